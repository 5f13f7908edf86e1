//! The tour: a shop's files, the commands one would type, a page with pictures.

use std::fs;

use crate::support::{Scratch, text, truenorth};

#[test]
fn the_tour_makes_files_and_shows_every_command_with_what_it_prints() {
    let folder = std::env::temp_dir().join(format!("truenorth-demo-{}", std::process::id()));
    let shown = folder.to_str().unwrap();
    let output = truenorth(&["demo", "--out", shown]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    // A command may be long; what is told is not.
    let told = |line: &&str| !line.starts_with("$ ") && !line.starts_with('{');
    for line in printed.lines().filter(told).filter(|line| !line.contains(shown)) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    // Sunscreen has drifted, and ours earns the most.
    let audited = printed.split("$ truenorth audit").nth(1).unwrap();
    assert!(audited.contains("item=sunscreen   "), "{printed}");
    let order: Vec<&str> = printed.split("$ truenorth compare").nth(1).unwrap().lines().collect();
    let place = |name: &str| order.iter().position(|line| line.starts_with(name)).unwrap();
    assert!(place("truenorth ") < place("lin-ucb") && place("lin-ucb") < place("offline-only"), "{printed}");
    assert!(printed.contains(r#"{"action":"game""#), "{printed}");
    for name in [
        "logs.csv",
        "live.csv",
        "visit.jsonl",
        "events.jsonl",
        "logs.tn",
        "audit.html",
        "trust.svg",
        "compare.svg",
        "learned.svg",
    ] {
        assert!(folder.join(name).exists(), "{name}");
    }
    assert!(fs::read(folder.join("trust.png")).unwrap().starts_with(b"\x89PNG"));
    // What is shown can be typed, and prints the same.
    let summary = folder.join("logs.tn");
    let again = truenorth(&[
        "summarize",
        folder.join("logs.csv").to_str().unwrap(),
        "--action",
        "item,price",
        "--reward",
        "bought",
        "-o",
        summary.to_str().unwrap(),
    ]);
    assert!(printed.contains(text(&again.stdout)), "{}", text(&again.stdout));
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 3);
    // What is harmless is not to be kept beside a trust of next to nothing.
    assert!(printed.contains("* Nothing to do about intercept: "), "{printed}");
    // Numbers that are not the same have not the same name, and lines do not hide each other.
    let drawn = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(drawn("learned.svg").contains(">Told apart<") && !drawn("learned.svg").contains(">Coverage<"));
    assert!(drawn("trust.svg").contains("the other items") && !drawn("trust.svg").contains("item=game"));
    assert!(
        page.contains("It blames sunscreen alone")
            && page.contains("in another order, reliance ends elsewhere")
    );
    // Opens anywhere: nothing is loaded from elsewhere.
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_tour_writes_over_its_own_files_alone() {
    let scratch = Scratch::new();
    assert!(scratch.run("demo").status.success() && scratch.run("demo").status.success());
    for (folder, name) in [("demo", "live.csv"), ("mine", "logs.csv"), ("site", "index.html")] {
        std::fs::create_dir_all(scratch.path(folder)).unwrap();
        scratch.write(&format!("{folder}/{name}"), "mine");
        let said = scratch.says(&format!("demo --out {folder}"));
        let expected = format!(
            "truenorth: {folder}/{name} is not the tour's own, and would be written over: name another folder with `--out`"
        );
        assert_eq!(said.trim_end(), expected);
        if name == "logs.csv" {
            assert_eq!(scratch.says(&format!("demo --live --out {folder}")).trim_end(), expected);
        }
        assert_eq!(fs::read_to_string(scratch.path(&format!("{folder}/{name}"))).unwrap(), "mine");
    }
}
