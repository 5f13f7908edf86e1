//! A figure read back: its elements and the boxes of its texts.

use roxmltree::{Document, Node};

pub(crate) struct Drawn<'a> {
    document: Document<'a>,
}

/// A text and the box it fills: left, top, right, bottom.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) class: String,
    pub(crate) content: String,
    pub(crate) sides: [f64; 4],
}

impl<'a> Drawn<'a> {
    pub(crate) fn new(svg: &'a str) -> Self {
        Self { document: Document::parse(svg).expect("a figure is well-formed XML") }
    }

    pub(crate) fn of_class(&self, class: &str) -> Vec<Node<'_, 'a>> {
        self.document.descendants().filter(|node| node.attribute("class") == Some(class)).collect()
    }

    pub(crate) fn count(&self, class: &str) -> usize {
        self.of_class(class).len()
    }

    /// The texts of a class, in the order they were drawn.
    pub(crate) fn texts(&self, class: &str) -> Vec<String> {
        let texts = self.labels().into_iter().filter(|label| label.class == class);
        texts.map(|label| label.content).collect()
    }

    pub(crate) fn labels(&self) -> Vec<Label> {
        self.document.descendants().filter(|node| node.has_tag_name("text")).map(label).collect()
    }

    /// Panics unless every text is inside the canvas and off every other.
    pub(crate) fn assert_readable(&self) {
        let root = self.document.root_element();
        let (width, height) = (number(root, "width"), number(root, "height"));
        let labels = self.labels();
        for (index, label) in labels.iter().enumerate() {
            let [left, top, right, bottom] = label.sides;
            assert!(left >= 0.0 && top >= 0.0 && right <= width && bottom <= height, "{label:?} is cut off");
            let other = labels[..index].iter().find(|other| overlap(&other.sides, &label.sides));
            assert!(other.is_none(), "{label:?} overlaps {other:?}");
        }
        for panel in self.of_class("panel") {
            let places = |class: &str, axis: &str| -> Vec<f64> {
                let ticks = panel.descendants().filter(|node| node.attribute("class") == Some(class));
                ticks.map(|tick| number(tick, axis)).collect()
            };
            assert!(places("x-tick", "x").is_sorted_by(|a, b| a < b), "ticks of x grow to the right");
            assert!(places("y-tick", "y").is_sorted_by(|a, b| a > b), "ticks of y grow upwards");
        }
    }
}

pub(crate) fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).expect(name).parse().expect(name)
}

fn label(node: Node) -> Label {
    let (x, y, size) = (number(node, "x"), number(node, "y"), number(node, "font-size"));
    let length = number(node, "textLength");
    let before = match node.attribute("text-anchor") {
        Some("middle") => length / 2.0,
        Some("end") => length,
        _ => 0.0,
    };
    // From the tops of tall letters to the feet of deep ones, and nothing more.
    let (up, down) = (0.78 * size, 0.22 * size);
    let sides = if node.attribute("transform").is_some() {
        [x - up, y + before - length, x + down, y + before]
    } else {
        [x - before, y - up, x - before + length, y + down]
    };
    let class = node.attribute("class").unwrap_or_default().to_owned();
    Label { class, content: node.text().unwrap_or_default().to_owned(), sides }
}

fn overlap(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}
