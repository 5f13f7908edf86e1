//! The page: self-contained, escaped, complete.

use truenorth_report::{Block, Page, Section, Table};

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
