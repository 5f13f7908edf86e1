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
    /// The heading; without one, the blocks introduce the page, above the table of contents.
    pub heading: String,
    /// The content in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Plain text; it is escaped.
    Paragraph(String),
    /// A figure of this crate on white paper, which dark pages invert: `svg` is trusted and not escaped.
    Figure {
        /// The whole `<svg>` element.
        svg: String,
        /// Plain text below it, unless empty.
        caption: String,
    },
    /// Rows of plain text; they are escaped.
    Table(Table),
    /// A table with one column of badges.
    Badges {
        /// The table.
        table: Table,
        /// Which column, counted from 0.
        column: usize,
        /// One for each row; rows without one are plain.
        tones: Vec<Tone>,
    },
    /// Items of plain text under each other; they are escaped.
    List(Vec<String>),
    /// Commands or code to copy; it is escaped.
    Code(String),
    /// The answer, before anything else is read.
    Callout(Callout),
    /// Key numbers side by side.
    Tiles(Vec<Tile>),
}

/// How good the news is. It shows as colour, but never as colour alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither.
    #[default]
    Plain,
    /// Green, a tick.
    Good,
    /// Amber, a half-filled circle.
    Mixed,
    /// Red, a cross.
    Bad,
}

/// A word and a sentence in a box.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Callout {
    /// Picks colour and symbol.
    pub tone: Tone,
    /// A word or two in large letters.
    pub word: String,
    /// Plain text below it, unless empty.
    pub text: String,
}

/// A number that stands out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tile {
    /// What is counted.
    pub label: String,
    /// The number.
    pub value: String,
    /// A remark below it, unless empty.
    pub note: String,
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
/// Tables with more rows scroll in a box under their header.
const TALL: usize = 60;
/// Figures of more pixels do not fit on a telephone.
const WIDE: u32 = 700;
/// Longer words are broken where they have to be.
const LONG: usize = 20;

impl Page {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let mut sections = self.sections.iter().enumerate().map(|(index, section)| {
            let heading =
                if section.heading.is_empty() { String::new() } else { element("h2", &section.heading) };
            let blocks: String = section.blocks.iter().map(Block::html).collect();
            format!("<section id=\"part-{}\">\n{heading}{blocks}</section>\n", index + 1)
        });
        let first = self.sections.iter().position(|section| !section.heading.is_empty()).unwrap_or(0);
        let introduction: String = sections.by_ref().take(first).collect();
        let body: String = sections.collect();
        let (title, contents) = (escape(&self.title), self.contents());
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
             {introduction}{contents}{body}</main>\n</body>\n</html>\n"
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
                let caption = optional("figcaption", caption);
                // Narrow screens scroll rather than shrink a figure until nobody can read it.
                let (class, width) = match drawn_width(svg) {
                    Some(width) if width > WIDE => ("paper wide", format!(" style=\"--drawn: {width}px\"")),
                    Some(width) => ("paper", format!(" style=\"--drawn: {width}px\"")),
                    None => ("paper", String::new()),
                };
                format!(
                    "<figure>\n<div class=\"{class}\" tabindex=\"0\"{width}>\n{svg}</div>\n{caption}</figure>\n"
                )
            }
            Self::Table(table) => table.html(|_, _| None),
            Self::Badges { table, column, tones } => {
                let tone = |row: usize, cell: usize| {
                    (cell == *column).then(|| tones.get(row).copied().unwrap_or_default())
                };
                table.html(tone)
            }
            Self::List(items) => {
                let items: String = items.iter().map(|item| element("li", item)).collect();
                format!("<ul>\n{items}</ul>\n")
            }
            Self::Code(code) => {
                // Lines are lines here, not spaces.
                let lines: Vec<String> = code.lines().map(escape).collect();
                format!("<pre class=\"scroll\" tabindex=\"0\"><code>{}</code></pre>\n", lines.join("\n"))
            }
            Self::Callout(callout) => callout.html(),
            Self::Tiles(tiles) => {
                let tiles: String = tiles.iter().map(Tile::html).collect();
                format!("<dl class=\"tiles\">\n{tiles}</dl>\n")
            }
        }
    }
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::Mixed => "mixed",
            Self::Bad => "bad",
        }
    }

    /// A symbol whose shape says as much as its colour.
    fn symbol(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "<circle cx=\"24\" cy=\"24\" r=\"20\"/><path d=\"M14 25l7 7 13-15\"/>",
            Self::Mixed => {
                "<circle cx=\"24\" cy=\"24\" r=\"20\"/>\
                 <path d=\"M24 4a20 20 0 0 0 0 40z\" fill=\"currentColor\"/>"
            }
            Self::Bad => {
                "<path d=\"M16 4h16l12 12v16L32 44H16L4 32V16z\"/><path d=\"M17 17l14 14M31 17L17 31\"/>"
            }
        }
    }
}

impl Callout {
    fn html(&self) -> String {
        let Self { tone, word, text } = self;
        let symbol = match tone.symbol() {
            "" => String::new(),
            shapes => format!(
                "<svg viewBox=\"0 0 48 48\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"4\" \
                 aria-hidden=\"true\">{shapes}</svg>\n"
            ),
        };
        let (class, text) = (tone.class(), optional("p", text));
        format!(
            "<div class=\"callout {class}\">\n{symbol}<div>\n<p class=\"word\">{}</p>\n{text}</div>\n</div>\n",
            escape(word)
        )
    }
}

impl Tile {
    fn html(&self) -> String {
        let note = if self.note.is_empty() {
            String::new()
        } else {
            format!("<dd class=\"note\">{}</dd>\n", escape(&self.note))
        };
        let (label, value) = (element("dt", &self.label), element("dd", &self.value));
        format!("<div>\n{label}{value}{note}</div>\n")
    }
}

impl Table {
    /// The table; cells with a tone are badges.
    fn html(&self, tone: impl Fn(usize, usize) -> Option<Tone>) -> String {
        let columns = self.rows.iter().map(Vec::len).chain([self.header.len()]).max().unwrap_or(0);
        let numeric: Vec<bool> = (0..columns).map(|column| self.is_numeric(column)).collect();
        let caption = optional("caption", &self.caption);
        let header =
            if self.header.is_empty() { String::new() } else { row(&self.header, "th", &numeric, |_| None) };
        let rows = self.rows.iter().enumerate();
        let rows: String =
            rows.map(|(index, cells)| row(cells, "td", &numeric, |column| tone(index, column))).collect();
        let class = if self.rows.len() > TALL { "scroll tall" } else { "scroll" };
        format!(
            "<div class=\"{class}\" tabindex=\"0\">\n<table>\n{caption}<thead>\n{header}</thead>\n\
             <tbody>\n{rows}</tbody>\n</table>\n</div>\n"
        )
    }

    fn is_numeric(&self, column: usize) -> bool {
        let mut cells =
            self.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
        let number = |cell: &String| cell.starts_with(|first: char| "+-−–≤<>±(0123456789".contains(first));
        cells.peek().is_some() && cells.all(number)
    }
}

fn row(cells: &[String], tag: &str, numeric: &[bool], tone: impl Fn(usize) -> Option<Tone>) -> String {
    let mut html = String::from("<tr>");
    for (column, numeric) in numeric.iter().enumerate() {
        let class = if *numeric { " class=\"number\"" } else { "" };
        let text = cells.get(column).map_or("", String::as_str);
        let mut cell = escape(text);
        if text.split_whitespace().any(|word| word.chars().count() > LONG) {
            cell = format!("<span class=\"long\">{cell}</span>");
        }
        let cell = match tone(column) {
            Some(tone) => format!("<span class=\"badge {}\">{cell}</span>", tone.class()),
            None => cell,
        };
        write!(html, "<{tag}{class}>{cell}</{tag}>").expect("a String takes every text");
    }
    html + "</tr>\n"
}

fn element(tag: &str, text: &str) -> String {
    format!("<{tag}>{}</{tag}>\n", escape(text))
}

/// Nothing for an empty text.
fn optional(tag: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { element(tag, text) }
}

/// The width that a figure states, in whole pixels.
fn drawn_width(svg: &str) -> Option<u32> {
    let (opening, _) = svg.split_once('>')?;
    let (_, rest) = opening.split_once(" width=\"")?;
    rest.split_once('"')?.0.parse().ok()
}
