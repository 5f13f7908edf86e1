//! What a page says.

use truenorth_audit::{Audit, Bounds, Feature, Finding, Options, Pair, Use, audit_as, page};

use crate::samples;
use crate::support::Rows;

fn html(audit: &Audit) -> String {
    page(audit, "logs.summary", Some("live.csv")).expect("a page")
}

/// The rows of the first table.
fn rows(html: &str) -> Vec<Vec<String>> {
    let table = html.split("<tbody>").nth(1).and_then(|rest| rest.split("</tbody>").next()).expect("a table");
    let text = |cell: &str| {
        let cell = cell.split_once('>').map_or("", |(_, text)| text);
        let mut inside = false;
        let outside = |letter: &char| match letter {
            '<' => {
                inside = true;
                false
            }
            '>' => !std::mem::take(&mut inside),
            _ => !inside,
        };
        cell.trim_end().chars().filter(outside).collect::<String>()
    };
    let row = |row: &str| row.split("<td").skip(1).map(text).collect();
    table.split("<tr>").skip(1).map(row).collect()
}

#[test]
fn every_sample_makes_a_page_below_a_megabyte() {
    for (name, audit) in samples::all() {
        let html = html(&audit);
        assert!(html.len() < 1_000_000, "{name}: {} bytes", html.len());
        for noise in ["NaN", ">inf", ">-inf", "0e0", "10⁻¹⁷", "−0.000 ", ">-0<"] {
            let known = name == "extreme" && matches!(noise, "0e0" | "10⁻¹⁷");
            assert!(known || !html.contains(noise), "{name}: {noise}");
        }
    }
}

#[test]
fn the_verdict_is_a_word_and_a_sentence() {
    for (usable, word, class) in [
        (Use::All, "USE ALL", "callout good"),
        (Use::Some, "USE SOME", "callout mixed"),
        (Use::None, "DO NOT USE", "callout bad"),
        (Use::Unclear, "UNCLEAR", "callout plain"),
    ] {
        let mut audit = samples::typical();
        audit.verdict.usable = usable;
        let html = html(&audit);
        assert!(html.contains(&format!("<p class=\"word\">{word}</p>")) && html.contains(class), "{word}");
        assert!(html.find(word) < html.find("<nav>"), "the verdict comes first");
        assert!(html.contains(&format!("<p>{}</p>", audit.verdict.sentence)));
    }
}

#[test]
fn sections_come_in_their_order() {
    let html = html(&samples::typical());
    let headings = [
        "What to do",
        "Trust by feature",
        "What following the logs would cost",
        "Coverage",
        "Trust by direction",
        "The two features that have moved most",
        "What the logs are worth",
        "Bounds in the worst case",
        "How this was computed",
        "What to do next",
    ];
    let places = headings.map(|heading| html.find(&format!("<h2>{heading}</h2>")).expect(heading));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn what_logs_are_worth_is_called_about_so_much_and_the_source_of_bounds_is_named() {
    let mut audit = samples::typical();
    let told = html(&audit);
    assert!(told.contains("<dt>Worth about, in live rounds</dt>"));
    let paper = "“Direction-Aware Offline-to-Online Learning in Linear Contextual Bandits”";
    assert!(told.contains(paper) && told.contains("logs pay if their bound is the smaller one"));
    // Bounds beyond all that can be lost are not held against each other.
    audit.bounds = audit.bounds.map(|bounds| Bounds { with_logs: 4e6, without_logs: 1.94e6, ..bounds });
    let told = html(&audit);
    assert!(told.contains("They say nothing here: they are for rewards in [0, 1]") && told.contains(paper));
    assert!(!told.contains("1,940,000") && !told.contains("smaller one"));
    // Of one column, 4 times 0.5 units is more than 1.2 of the other, whose budget is larger.
    let finding = |typical: f64| Finding { typical, ..audit.features[0].finding };
    let feature = |name: &str, typical: f64| Feature {
        name: name.to_owned(),
        finding: finding(typical),
        ..audit.features[0].clone()
    };
    audit.features = vec![feature("price", 4.0), feature("game", 1.0)];
    audit.certificate.matrix = vec![vec![4.0, 0.0], vec![0.0, 1.0 / 1.44]];
    audit.certificate.rho = 1.0;
    let said = "Counted in a typical reward, price may have moved most, by up to 2 (0.5 for one unit), and game least, by up \
                to 1.2 (1.2 for one unit).";
    assert!(html(&audit).contains(said), "{said}");
}

#[test]
fn an_audit_for_programs_and_for_people_differs_in_names_alone() {
    let mut rows = Rows { rounds: Some(Vec::new()), ..Rows::default() };
    for i in 0..300_usize {
        let x = [(i % 7) as f64, (i % 5) as f64];
        rows.push(&x, x[0] + 0.1 * (i % 3) as f64);
        rows.rounds.as_mut().unwrap().push(i / 3);
    }
    let (logs, scale) = (rows.statistic(2), 1.0);
    rows.rewards.iter_mut().for_each(|reward| *reward *= -1.0);
    let pilot = rows.pilot();
    let [names, labels] = [["#1", "#2"], ["#1 (price)", "#2 (age)"]].map(|of| of.map(str::to_owned));
    for pilot in [None, Some(&pilot)] {
        let options = Options::default();
        let both = audit_as([&names[..], &labels[..]], &logs, scale, pilot, &options).unwrap();
        let alone = [&names, &labels]
            .map(|names| truenorth_audit::audit(&logs, names, scale, pilot, &options).unwrap());
        assert!(
            both == alone && both[1].verdict.sentence.contains("#1 (price)"),
            "{}",
            both[1].verdict.sentence
        );
    }
}

#[test]
fn names_are_escaped_everywhere() {
    let html = html(&samples::nasty());
    for raw in ["<script", "</style></td>", "<b>a", "\u{7}", "<these>"] {
        assert!(!html.contains(raw), "{raw:?}");
    }
    for shown in
        ["&lt;script&gt;alert(1)", "&amp;amp;", "a &amp; b &lt; c &gt; d", "(column 8)", "(column 9)"]
    {
        assert!(html.contains(shown), "{shown}");
    }
    let page = page(&samples::typical(), "<logs> & \"more\"", None).expect("a page");
    assert!(page.contains("<title>Audit of &lt;logs&gt; &amp; &quot;more&quot;</title>"));
}

#[test]
fn drifted_features_come_first_by_their_signal() {
    let rows = rows(&html(&samples::typical()));
    let verdicts: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    let order = ["drifted", "drifted, harmless", "unclear", "not tested", "holds"];
    let rank = |verdict: &&str| order.iter().position(|word| word == verdict).expect("a known verdict");
    assert!(verdicts.is_sorted_by_key(rank), "{verdicts:?}");
    // |t|: 9.2, 7.3, 6.8, 6.8.
    let drifted: Vec<&str> = rows.iter().take(4).map(|row| row[0].as_str()).collect();
    assert_eq!(drifted, ["f_hcos1", "f_trend", "f_temp", "f_one"]);
    assert_eq!(rows[0][2], "−0.110 ± 0.012");
}

#[test]
fn every_verdict_has_its_words() {
    let mut audit = samples::typical();
    let cases = [
        (Some(true), Some(false), "drifted"),
        (Some(true), Some(true), "drifted, harmless"),
        (Some(false), Some(false), "unclear"),
        (Some(false), Some(true), "holds"),
        (None, None, "not tested"),
    ];
    for (feature, (drifted, equivalent, _)) in audit.features.iter_mut().zip(cases) {
        feature.finding = Finding { drifted, equivalent, trust: 0.4, ..feature.finding };
        if drifted.is_none() {
            feature.finding = Finding { drift: None, stderr: None, interval: None, ..feature.finding };
        }
    }
    let rows = rows(&html(&audit));
    for (Feature { name, .. }, (.., verdict)) in audit.features.iter().zip(cases) {
        let row = rows.iter().find(|row| row[0] == *name).expect("a row");
        assert_eq!(row[1], verdict, "{name}");
    }
}

#[test]
fn figures_are_capped_and_say_so_but_the_table_is_whole() {
    let html = html(&samples::large(200));
    assert_eq!(html.matches("class=\"row-name\"").count(), 2 * 40);
    assert_eq!(html.matches("The 40 most important of 200; 160 are left out.").count(), 2);
    assert_eq!(rows(&html).len(), 200);
    assert!(html.contains("All 200 features."));
}

#[test]
fn without_a_pilot_the_page_says_how_to_run_one() {
    let html = html(&samples::no_pilot());
    assert!(html.contains("truenorth audit logs.summary --pilot live.csv"));
    assert!(html.contains("Nothing here says whether the logs still hold"));
    for missing in ["Trust by direction", "class=\"estimate\"", "class=\"badge", "after the pilot"] {
        assert!(!html.contains(missing), "{missing}");
    }
    let rows = rows(&html);
    assert_eq!((rows.len(), rows[0][0].as_str()), (15, "f_trend"), "the least covered first");
}

#[test]
fn a_pair_is_drawn_where_it_can_be() {
    let heading = "The two features that have moved most";
    let mut audit = samples::typical();
    assert!(html(&audit).contains("live data"));
    let mut pair: Pair = audit.pair.clone().expect("a pair");
    pair.logs.covariance[0][0] = f64::NAN;
    audit.pair = Some(pair);
    assert!(!html(&audit).contains(heading));
    audit.pair = None;
    assert!(!html(&audit).contains(heading));
    let mut unlimited = samples::typical();
    unlimited.pair.as_mut().expect("a pair").budgets = [f64::INFINITY, 1.0];
    assert!(html(&unlimited).contains("does not limit the drift here"));
    // Where nothing is shown to have moved, nothing is said to have, and logs that may be used are used.
    let mut held = samples::typical();
    for feature in &mut held.features {
        feature.finding.drifted = Some(false);
    }
    held.verdict.usable = Use::All;
    let told = html(&held);
    assert!(!told.contains(heading) && !told.contains("the logs are wrong"));
    assert!(
        told.contains("The two largest measured differences")
            && told.contains("<li>Use them: truenorth decide ")
    );
}

#[test]
fn the_certificate_is_told_feature_by_feature() {
    let mut audit = samples::typical();
    audit.certificate.rho = 1.0;
    let budgets = rows(&html(&audit));
    let row = budgets.iter().find(|row| row[0] == "f_temp").expect("a row");
    assert_eq!(row[6], "± 0.37");
    audit.certificate.matrix[0][0] = -1.0;
    assert!(rows(&html(&audit)).iter().all(|row| row[6] == "–"), "not a certificate");
}

#[test]
fn directions_that_cannot_be_tested_are_a_sentence_and_no_table() {
    let mut audit = samples::typical();
    let untested = |finding: Finding| Finding { drifted: None, drift: None, interval: None, ..finding };
    for direction in &mut audit.directions {
        direction.finding = untested(direction.finding);
    }
    for feature in &mut audit.features[7..9] {
        feature.finding = untested(feature.finding);
    }
    let said = "No combination of features could be tested: each holds a little of f_hsin2 and f_hcos2, which the pilot cannot test.";
    let page = html(&audit);
    assert!(page.contains(said));
    // Rows of the features alone.
    assert_eq!(page.matches("class=\"row-name\"").count(), 15);
}
