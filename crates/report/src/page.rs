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
    /// A link on a line of its own.
    Link {
        /// Where it leads, from this page.
        to: String,
        /// What it says; it is escaped.
        text: String,
    },
    /// Commands or code to copy; it is escaped. Lines that start with `$`, and very long ones, are broken where a screen
    /// ends, but not inside an option; all others scroll, so that tables stay tables.
    Code(String),
    /// The answer in a box, before anything else is read.
    Callout {
        /// Picks colour and symbol.
        tone: Tone,
        /// A word or two in large letters.
        word: String,
        /// Plain text below it, unless empty.
        text: String,
    },
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
/// Figures of more pixels, tables of more columns and lines of more letters do not fit on a telephone.
const WIDE: u32 = 700;
const COLUMNS: usize = 3;
const LETTERS: usize = 36;
/// Longer words are broken where they have to be.
const LONG: usize = 20;
/// Lines of code beyond this are broken rather than scrolled.
const LONG_LINE: usize = 110;
const TAKEN: &str = "a String takes every text";

impl Page {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let (mut introduction, mut body, mut links) = (String::new(), String::new(), Vec::new());
        for (Section { heading, blocks }, part) in self.sections.iter().zip(1..) {
            if !heading.is_empty() {
                links.push(format!("<a href=\"#part-{part}\">{}</a>", escape(heading)));
            }
            let (heading, blocks) =
                (optional("h2", heading), blocks.iter().map(Block::html).collect::<String>());
            let place = if links.is_empty() { &mut introduction } else { &mut body };
            write!(place, "<section id=\"part-{part}\">\n{heading}{blocks}</section>\n").expect(TAKEN);
        }
        let contents = match links.len() {
            0 | 1 => String::new(),
            _ => format!("<nav>{}</nav>\n", links.join("\n")),
        };
        let title = escape(&self.title);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
             {introduction}{contents}{body}</main>\n</body>\n</html>\n"
        )
    }
}

impl Block {
    fn html(&self) -> String {
        match self {
            Self::Paragraph(text) => element("p", text),
            Self::Figure { svg, caption } => {
                let caption = optional("figcaption", caption);
                // Narrow screens scroll rather than shrink a figure until nobody can read it.
                let width = drawn_width(svg);
                let class = if width > Some(WIDE) { "paper wide" } else { "paper" };
                let width = width.map(|width| format!(" style=\"--drawn: {width}px\"")).unwrap_or_default();
                format!(
                    "<figure>\n<div class=\"{class}\" tabindex=\"0\"{width}>\n{svg}</div>\n{caption}</figure>\n"
                )
            }
            Self::Table(table) => table.html(None),
            Self::Badges { table, column, tones } => table.html(Some((*column, tones))),
            Self::List(items) => {
                let items: String = items.iter().map(|item| element("li", item)).collect();
                format!("<ul>\n{items}</ul>\n")
            }
            Self::Link { to, text } => format!("<p><a href=\"{}\">{}</a></p>\n", escape(to), escape(text)),
            Self::Code(code) => {
                let lines: Vec<String> = code.lines().map(line_of_code).collect();
                let long = code.lines().any(|line| !is_broken(line) && line.chars().count() > LETTERS);
                let wide = if long { " wide" } else { "" };
                // Lines are lines here, not spaces.
                format!(
                    "<pre class=\"scroll{wide}\" tabindex=\"0\"><code>{}</code></pre>\n",
                    lines.join("\n")
                )
            }
            Self::Callout { tone, word, text } => {
                let (word, text, (class, symbol)) = (escape(word), optional("p", text), tone.looks());
                format!(
                    "<div class=\"callout {class}\">\n{symbol}<div>\n<p class=\"word\">{word}</p>\n{text}</div>\n</div>\n"
                )
            }
            Self::Tiles(tiles) => {
                let tile = |Tile { label, value, note }: &Tile| {
                    let note = optional("dd", note).replacen("<dd>", "<dd class=\"note\">", 1);
                    format!("<div>\n{}{}{note}</div>\n", element("dt", label), element("dd", value))
                };
                format!("<dl class=\"tiles\">\n{}</dl>\n", tiles.iter().map(tile).collect::<String>())
            }
        }
    }
}

impl Tone {
    /// Its class, and a symbol whose shape says as much as its colour.
    fn looks(self) -> (&'static str, String) {
        const CIRCLE: &str = "<circle cx=\"24\" cy=\"24\" r=\"20\"/>";
        const OCTAGON: &str = "<path d=\"M16 4h16l12 12v16L32 44H16L4 32V16z\"/>";
        let (class, shape, sign) = match self {
            Self::Plain => return ("plain", String::new()),
            Self::Good => ("good", CIRCLE, "<path d=\"M14 25l7 7 13-15\"/>"),
            Self::Mixed => ("mixed", CIRCLE, "<path d=\"M24 4a20 20 0 0 0 0 40z\" fill=\"currentColor\"/>"),
            Self::Bad => ("bad", OCTAGON, "<path d=\"M17 17l14 14M31 17L17 31\"/>"),
        };
        let symbol = format!(
            "<svg viewBox=\"0 0 48 48\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"4\" \
             aria-hidden=\"true\">{shape}{sign}</svg>\n"
        );
        (class, symbol)
    }
}

impl Table {
    /// The table; cells of a column with tones are badges.
    fn html(&self, badges: Option<(usize, &Vec<Tone>)>) -> String {
        let columns = self.rows.iter().map(Vec::len).chain([self.header.len()]).max().unwrap_or(0);
        let numeric: Vec<bool> = (0..columns).map(|column| self.is_numeric(column)).collect();
        let caption = optional("figcaption", &self.caption);
        let header = self.header.first().map(|_| row(&self.header, "th", &numeric, None)).unwrap_or_default();
        let badge = |row: usize| badges.map(|(at, tones)| (at, tones.get(row).copied().unwrap_or_default()));
        let rows = self.rows.iter().enumerate();
        let rows: String = rows.map(|(index, cells)| row(cells, "td", &numeric, badge(index))).collect();
        let tall = if self.rows.len() > TALL { " tall" } else { "" };
        let wide = if columns > COLUMNS { " wide" } else { "" };
        let table = format!(
            "<div class=\"scroll{tall}{wide}\" tabindex=\"0\">\n<table>\n<thead>\n{header}</thead>\n\
             <tbody>\n{rows}</tbody>\n</table>\n</div>\n"
        );
        // What is read first does not scroll away with the columns.
        if caption.is_empty() { table } else { format!("<figure>\n{caption}{table}</figure>\n") }
    }

    fn is_numeric(&self, column: usize) -> bool {
        let mut cells =
            self.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
        let number = |cell: &String| cell.starts_with(|first: char| "+-−–≤<>±(0123456789".contains(first));
        cells.peek().is_some() && cells.all(number)
    }
}

/// A row with a badge in at most one column.
fn row(cells: &[String], tag: &str, numeric: &[bool], badge: Option<(usize, Tone)>) -> String {
    let mut html = String::from("<tr>");
    for (column, numeric) in numeric.iter().enumerate() {
        let class = if *numeric { " class=\"number\"" } else { "" };
        let text = cells.get(column).map_or("", String::as_str);
        let mut cell = breaking(text);
        if text.split_whitespace().any(is_long) {
            cell = format!("<span class=\"long\">{cell}</span>");
        }
        if let Some((_, tone)) = badge.filter(|(at, _)| *at == column) {
            cell = format!("<span class=\"badge {}\">{cell}</span>", tone.looks().0);
        }
        write!(html, "<{tag}{class}>{cell}</{tag}>").expect(TAKEN);
    }
    html + "</tr>\n"
}

fn element(tag: &str, text: &str) -> String {
    format!("<{tag}>{}</{tag}>\n", breaking(text))
}

fn is_long(word: &str) -> bool {
    word.chars().count() > LONG
}

/// Text whose long words, names of products of features, break between these where they do not fit.
fn breaking(text: &str) -> String {
    let word = |word: &str| {
        let escaped = escape(word);
        if is_long(word) { escaped.replace(':', ":<wbr>") } else { escaped }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Nothing for an empty text.
fn optional(tag: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { element(tag, text) }
}

fn is_broken(line: &str) -> bool {
    line.starts_with("$ ") || line.chars().count() > LONG_LINE
}

/// A line of code, broken where a screen ends if it is a command or very long, but not inside an option.
fn line_of_code(line: &str) -> String {
    let text = escape(line);
    if !is_broken(line) {
        return text;
    }
    let whole = |word: &str| format!("<span class=\"word\">{word}</span>");
    let word = |word: &str| if word.contains('-') { whole(word) } else { word.to_owned() };
    let words: Vec<String> = text.split(' ').map(word).collect();
    format!("<span class=\"broken\">{}</span>", words.join(" "))
}

/// The width that a figure states, in whole pixels.
fn drawn_width(svg: &str) -> Option<u32> {
    let (opening, _) = svg.split_once('>')?;
    let (_, rest) = opening.split_once(" width=\"")?;
    rest.split_once('"')?.0.parse().ok()
}
