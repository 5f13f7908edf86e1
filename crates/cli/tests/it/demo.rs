//! The tour: words on the terminal, a page and pictures in the folder.

use std::fs;

use crate::support::{text, truenorth};

#[test]
fn the_tour_says_what_it_found_and_where_the_page_is() {
    let folder = std::env::temp_dir().join(format!("truenorth-demo-{}", std::process::id()));
    let output = truenorth(&["demo", "--out", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(printed.contains("season       0.51       -0.40  wrong"), "{printed}");
    assert!(printed.contains(folder.join("index.html").to_str().unwrap()));
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 3);
    // Opens anywhere: nothing is loaded from elsewhere.
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for name in ["regret", "decisions", "idea"] {
        assert!(folder.join(format!("{name}.svg")).exists());
        assert!(fs::read(folder.join(format!("{name}.png"))).unwrap().starts_with(b"\x89PNG"));
    }
    fs::remove_dir_all(folder).unwrap();
}
