//! The page: self-contained, escaped, complete.

use truenorth_report::{Block, Page, Section, Table, Tile, Tone};

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section { heading: heading.into(), blocks }
}

#[test]
fn text_is_escaped_and_figures_are_not() {
    let table = Table {
        caption: "<caption>".into(),
        header: vec!["policy".into(), "regret".into()],
        rows: vec![vec!["<b>".into(), "1,200 ± 3".into()], vec!["short row".into()]],
    };
    let figure = Block::Figure { svg: "<svg></svg>".into(), caption: "a & b".into() };
    let blocks = vec![Block::Paragraph("1 < 2".into()), figure, Block::Table(table)];
    let html = Page { title: "A \"page\"".into(), sections: vec![section("One", blocks)] }.html();
    for part in [
        "<title>A &quot;page&quot;</title>",
        "<p>1 &lt; 2</p>",
        "<svg></svg>",
        "<figcaption>a &amp; b</figcaption>",
        "<td>&lt;b&gt;</td><td class=\"number\">1,200 ± 3</td>",
        "<td>short row</td><td class=\"number\"></td>",
        // It does not scroll away with the columns.
        "<figcaption>&lt;caption&gt;</figcaption>\n<div class=\"scroll\"",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[test]
fn the_page_asks_nothing_of_the_network() {
    let html = Page { title: "t".into(), sections: vec![section("a", vec![]), section("b", vec![])] }.html();
    for outside in ["http:", "https:", "<script", "<link", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("prefers-color-scheme: dark"));
    assert!(html.contains("<a href=\"#part-2\">b</a>") && html.contains("<section id=\"part-2\">"));
}

#[test]
fn the_answer_stands_above_the_contents_and_reads_without_colour() {
    let callout = |tone| Block::Callout { tone, word: "NO & YES".into(), text: "a < b".into() };
    let tile = Tile { label: "rows".into(), value: "<12>".into(), note: "of & on".into() };
    let introduction = section("", vec![callout(Tone::Bad), Block::Tiles(vec![tile])]);
    let sections = vec![introduction, section("One", vec![]), section("Two", vec![])];
    let html = Page { title: "t".into(), sections }.html();
    assert!(html.find("callout bad") < html.find("<nav>") && html.contains("<a href=\"#part-2\">One</a>"));
    for part in [
        "<p class=\"word\">NO &amp; YES</p>\n<p>a &lt; b</p>",
        "<dt>rows</dt>\n<dd>&lt;12&gt;</dd>\n<dd class=\"note\">of &amp; on</dd>",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    let symbol = |tone| {
        let html = Page { title: "t".into(), sections: vec![section("", vec![callout(tone)])] }.html();
        html.split_once("<svg").map(|(_, rest)| rest.split_once("</svg>").expect("an end").0.to_owned())
    };
    let symbols = [Tone::Good, Tone::Mixed, Tone::Bad].map(|tone| symbol(tone).expect("a symbol"));
    assert!(symbols[0] != symbols[1] && symbols[1] != symbols[2] && symbols[0] != symbols[2]);
    assert_eq!(symbol(Tone::Plain), None);
}

#[test]
fn lists_code_and_badges_are_escaped() {
    let table = Table {
        header: vec!["name".into(), "verdict".into()],
        rows: vec![vec!["a".into(), "<bad>".into()], vec!["b".into(), "none".into()]],
        ..Table::default()
    };
    let blocks = vec![
        Block::List(vec!["1 < 2".into()]),
        Block::Code("run <it>\nagain".into()),
        Block::Badges { table, column: 1, tones: vec![Tone::Bad] },
    ];
    let html = Page { title: "t".into(), sections: vec![section("", blocks)] }.html();
    for part in [
        "<ul>\n<li>1 &lt; 2</li>\n</ul>",
        "<code>run &lt;it&gt;\nagain</code>",
        "<td><span class=\"badge bad\">&lt;bad&gt;</span></td>",
        "<td><span class=\"badge plain\">none</span></td>",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[test]
fn long_words_tall_tables_and_wide_figures_have_their_classes() {
    let rows = |count: usize| (0..count).map(|row| vec!["x".repeat(40), row.to_string()]).collect();
    let table = |count| Block::Table(Table { rows: rows(count), ..Table::default() });
    let html = |block| Page { title: "t".into(), sections: vec![section("", vec![block])] }.html();
    assert!(
        html(table(61)).contains("<div class=\"scroll tall\"")
            && html(table(60)).contains("<div class=\"scroll\"")
    );
    assert!(html(table(1)).contains("<td><span class=\"long\">xxx"));
    let columns =
        |count: usize| html(Block::Table(Table { rows: vec![vec!["x".into(); count]], ..Table::default() }));
    assert!(
        columns(4).contains("<div class=\"scroll wide\"") && columns(3).contains("<div class=\"scroll\"")
    );
    // What is broken where the screen ends has not to be swiped.
    let code = |line: &str| html(Block::Code(line.to_owned()));
    assert!(code(&"x".repeat(37)).contains("<pre class=\"scroll wide\""));
    for short in ["x".repeat(36), format!("$ {}", "x".repeat(60)), "x".repeat(111)] {
        assert!(code(&short).contains("<pre class=\"scroll\""), "{short}");
    }
    let sentence = "kept: customer=family:item=umbrella & all";
    assert!(
        html(Block::Paragraph(sentence.into()))
            .contains("<p>kept: customer=family:<wbr>item=umbrella &amp; all</p>")
    );
    let figure = |width: u32| {
        html(Block::Figure { svg: format!("<svg a=\"b\" width=\"{width}\"></svg>"), caption: String::new() })
    };
    assert!(figure(1000).contains("<div class=\"paper wide\" tabindex=\"0\" style=\"--drawn: 1000px\">"));
    assert!(figure(500).contains("<div class=\"paper\" tabindex=\"0\" style=\"--drawn: 500px\">"));
}

#[test]
fn commands_and_very_long_lines_break_and_tables_of_text_do_not() {
    let long = "x".repeat(111);
    let code = Block::Code(format!("$ run a<b\nname  value\n{long}"));
    let link = Block::Link { to: "audit.html".into(), text: "a & b".into() };
    let html = Page { title: "t".into(), sections: vec![section("", vec![code, link])] }.html();
    for part in [
        "<span class=\"broken\">$ run a&lt;b</span>\nname  value\n",
        &format!("\n<span class=\"broken\">{long}</span></code>"),
        "<p><a href=\"audit.html\">a &amp; b</a></p>",
    ] {
        assert!(html.contains(part), "{part}\n{html}");
    }
}

#[test]
fn commands_break_before_an_option_and_not_inside_of_it() {
    let code = Block::Code("$ run --pilot live.csv lin-ucb\nno --command".into());
    let html = Page { title: "t".into(), sections: vec![section("", vec![code])] }.html();
    let (pilot, policy) = ("<span class=\"word\">--pilot</span>", "<span class=\"word\">lin-ucb</span>");
    let whole = format!("<span class=\"broken\">$ run {pilot} live.csv {policy}</span>\nno --command");
    assert!(html.contains(&whole), "{html}");
}
