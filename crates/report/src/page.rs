//! One self-contained HTML file of text, figures and tables.

use std::fmt::Write;

use crate::svg::escape;

/// A page that needs no network, in light and dark, on narrow and wide screens.
///
/// ```
/// use truenorth_report::{Block, Page, Section, Table};
///
/// let table = Table {
///     caption: "Final regret".into(),
///     header: vec!["policy".into(), "regret".into()],
///     rows: vec![vec!["MinUCB".into(), "12.5".into()]],
/// };
/// let blocks = vec![Block::Paragraph("Less is better: a < b.".into()), Block::Table(table)];
/// let page = Page { title: "Results".into(), sections: vec![Section { heading: "Regret".into(), blocks }] };
/// assert!(page.html().contains("a &lt; b"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Title of the window and first heading.
    pub title: String,
    /// The parts of the page; several make a table of contents.
    pub sections: Vec<Section>,
}

/// A heading with what stands under it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// The heading; without one, the blocks introduce the page.
    pub heading: String,
    /// The content in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Plain text; it is escaped.
    Paragraph(String),
    /// A figure of this crate on light paper, as it is: `svg` is trusted and not escaped.
    Figure {
        /// The whole `<svg>` element.
        svg: String,
        /// Plain text below it, unless empty.
        caption: String,
    },
    /// Rows of plain text; they are escaped.
    Table(Table),
}

/// Rows under a header. Columns of numbers are aligned at the right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Plain text above the table, unless empty.
    pub caption: String,
    /// One cell for each column.
    pub header: Vec<String>,
    /// Cells from left to right; missing ones are left empty.
    pub rows: Vec<Vec<String>>,
}

const STYLE: &str = include_str!("page.css");

impl Page {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let sections = self.sections.iter().enumerate().map(|(index, section)| {
            let heading =
                if section.heading.is_empty() { String::new() } else { element("h2", &section.heading) };
            let blocks: String = section.blocks.iter().map(Block::html).collect();
            format!("<section id=\"part-{}\">\n{heading}{blocks}</section>\n", index + 1)
        });
        let body: String = sections.collect();
        let (title, contents) = (escape(&self.title), self.contents());
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{contents}{body}</main>\n</body>\n</html>\n"
        )
    }

    fn contents(&self) -> String {
        let sections = self.sections.iter().enumerate().filter(|(_, section)| !section.heading.is_empty());
        let links: Vec<String> = sections
            .map(|(index, section)| {
                format!("<a href=\"#part-{}\">{}</a>", index + 1, escape(&section.heading))
            })
            .collect();
        if links.len() < 2 { String::new() } else { format!("<nav>{}</nav>\n", links.join("\n")) }
    }
}

impl Block {
    fn html(&self) -> String {
        match self {
            Self::Paragraph(text) => element("p", text),
            Self::Figure { svg, caption } => {
                let caption = if caption.is_empty() { String::new() } else { element("figcaption", caption) };
                format!("<figure>\n<div class=\"paper\" tabindex=\"0\">\n{svg}</div>\n{caption}</figure>\n")
            }
            Self::Table(table) => table.html(),
        }
    }
}

impl Table {
    fn html(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).chain([self.header.len()]).max().unwrap_or(0);
        let numeric: Vec<bool> = (0..columns).map(|column| self.is_numeric(column)).collect();
        let caption = if self.caption.is_empty() { String::new() } else { element("caption", &self.caption) };
        let header = if self.header.is_empty() { String::new() } else { row(&self.header, "th", &numeric) };
        let rows: String = self.rows.iter().map(|cells| row(cells, "td", &numeric)).collect();
        format!(
            "<div class=\"scroll\" tabindex=\"0\">\n<table>\n{caption}<thead>\n{header}</thead>\n\
             <tbody>\n{rows}</tbody>\n</table>\n</div>\n"
        )
    }

    fn is_numeric(&self, column: usize) -> bool {
        let mut cells =
            self.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
        let number = |cell: &String| cell.starts_with(|first: char| "+-−≤<±0123456789".contains(first));
        cells.peek().is_some() && cells.all(number)
    }
}

fn row(cells: &[String], tag: &str, numeric: &[bool]) -> String {
    let mut html = String::from("<tr>");
    for (column, numeric) in numeric.iter().enumerate() {
        let class = if *numeric { " class=\"number\"" } else { "" };
        let cell = escape(cells.get(column).map_or("", String::as_str));
        write!(html, "<{tag}{class}>{cell}</{tag}>").expect("a String takes every text");
    }
    html + "</tr>\n"
}

fn element(tag: &str, text: &str) -> String {
    format!("<{tag}>{}</{tag}>\n", escape(text))
}
