//! Which colour, dash pattern and marker a name gets.

/// The order of names that decides their looks.
///
/// Figures that share a palette draw the same name in the same colour, with the same dash pattern
/// and marker. Names that a palette lacks come after its own, in the order of their first appearance.
/// The first eight colours are those of Okabe and Ito, with brown for their yellow, which white swallows;
/// 56 names differ from each other in colour or dash pattern.
///
/// ```
/// use truenorth_report::Palette;
///
/// let palette = Palette::new(["MinUCB", "LinUCB", "greedy"]);
/// assert_eq!(palette.names().len(), 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Palette {
    names: Vec<String>,
}

impl Palette {
    /// A palette for these names; repetitions count once.
    pub fn new<I: IntoIterator<Item: Into<String>>>(names: I) -> Self {
        let mut palette = Self::default();
        names.into_iter().for_each(|name| palette.add(name.into()));
        palette
    }

    /// The names in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Colour and dash pattern of a name, for those who draw elsewhere: `#0072b2`, and lengths of dashes and gaps,
    /// none if solid.
    pub fn look(&self, name: &str) -> (String, &'static str) {
        let style = self.with([name]).style(name);
        (style.color.hex(), style.dash)
    }

    /// This palette, followed by the names it lacks.
    pub(crate) fn with<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut palette = self.clone();
        names.into_iter().for_each(|name| palette.add(name.to_owned()));
        palette
    }

    /// The looks of a name; those of the first one for a name it lacks.
    pub(crate) fn style(&self, name: &str) -> Style {
        let index = self.names.iter().position(|known| known == name).unwrap_or(0);
        let round = index / COLORS.len();
        Style {
            color: COLORS[index % COLORS.len()],
            dash: DASHES[(index + round) % DASHES.len()],
            marker: MARKERS[index % MARKERS.len()],
        }
    }

    fn add(&mut self, name: String) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Style {
    pub(crate) color: Color,
    /// Lengths of dashes and gaps; solid when empty.
    pub(crate) dash: &'static str,
    pub(crate) marker: Marker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    Star,
}

const COLORS: [Color; 8] = [
    Color(0x00, 0x72, 0xB2),
    Color(0xD5, 0x5E, 0x00),
    Color(0x00, 0x9E, 0x73),
    Color(0xCC, 0x79, 0xA7),
    Color(0x33, 0x33, 0x33),
    Color(0xE6, 0x9F, 0x00),
    Color(0x56, 0xB4, 0xE9),
    Color(0x8C, 0x56, 0x2B),
];
// Seven, coprime to the eight colours: together they repeat after 56.
const DASHES: [&str; 7] = ["", "9 4", "2.5 3", "10 3 2.5 3", "5 2.5", "14 4 5 4", "10 3 2.5 3 2.5 3"];
const MARKERS: [Marker; 5] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];

/// An opaque colour: red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color(pub(crate) u8, pub(crate) u8, pub(crate) u8);

pub(crate) const WHITE: Color = Color(0xFF, 0xFF, 0xFF);
pub(crate) const TEXT: Color = Color(0x22, 0x22, 0x22);
pub(crate) const MUTED: Color = Color(0x5C, 0x5C, 0x5C);
pub(crate) const AXIS: Color = Color(0x80, 0x80, 0x80);
pub(crate) const GRID: Color = Color(0xE8, 0xE8, 0xE8);
/// Behind every second row of a table.
pub(crate) const STRIPE: Color = Color(0xF6, 0xF7, 0xF8);
pub(crate) const BLUE: Color = COLORS[0];
pub(crate) const VERMILION: Color = COLORS[1];
pub(crate) const GREEN: Color = COLORS[2];

impl Color {
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// The way from this colour to another, `part` of it gone.
    pub(crate) fn mix(self, other: Self, part: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
        let between = |a: u8, b: u8| {
            (f64::from(a) + part.clamp(0.0, 1.0) * (f64::from(b) - f64::from(a))).round() as u8
        };
        Self(between(self.0, other.0), between(self.1, other.1), between(self.2, other.2))
    }

    /// This colour, darkened until text in it is readable on white (4.5 to 1, WCAG AA).
    pub(crate) fn ink(self) -> Self {
        let readable = |color: &Self| 1.05 / (color.luminance() + 0.05) >= 4.5;
        (0..20).map(|step| self.mix(TEXT, f64::from(step) / 20.0)).find(readable).unwrap_or(TEXT)
    }

    /// Black or white, whichever is readable on this colour.
    pub(crate) fn contrast(self) -> Self {
        if self.luminance() > 0.25 { TEXT } else { WHITE }
    }

    /// Step `index` of `count` on a ramp from dark violet to yellow (viridis).
    pub(crate) fn ramp(index: usize, count: usize) -> Self {
        let place = index as f64 / (count.max(2) - 1) as f64 * (VIRIDIS.len() - 1) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "index < count")]
        let below = (place as usize).min(VIRIDIS.len() - 2);
        VIRIDIS[below].mix(VIRIDIS[below + 1], place - below as f64)
    }

    fn luminance(self) -> f64 {
        let linear = |byte: u8| {
            let part = f64::from(byte) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }
}

const VIRIDIS: [Color; 9] = [
    Color(0x44, 0x01, 0x54),
    Color(0x48, 0x28, 0x78),
    Color(0x3E, 0x4A, 0x89),
    Color(0x31, 0x68, 0x8E),
    Color(0x26, 0x82, 0x8E),
    Color(0x1F, 0x9E, 0x89),
    Color(0x6E, 0xCE, 0x58),
    Color(0xB5, 0xDE, 0x2B),
    Color(0xFD, 0xE7, 0x25),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_differ_in_colour_or_dash() {
        let names: Vec<String> = (0..56).map(|index| index.to_string()).collect();
        let palette = Palette::new(names.clone());
        for (position, name) in names.iter().enumerate() {
            for other in &names[..position] {
                let (a, b) = (palette.style(name), palette.style(other));
                assert!((a.color, a.dash) != (b.color, b.dash), "{name} looks like {other}");
            }
        }
    }

    #[test]
    fn a_name_keeps_its_looks_when_others_join() {
        let palette = Palette::new(["a", "b"]);
        assert_eq!(palette.with(["c", "a"]).style("b"), palette.style("b"));
    }

    #[test]
    fn every_colour_gives_readable_ink() {
        assert!(COLORS.iter().all(|color| 1.05 / (color.ink().luminance() + 0.05) >= 4.5));
    }
}
