//! Which colour, dash pattern and marker a name gets.

use std::fmt;

/// The order of names that decides their looks.
///
/// Figures that share a palette draw the same name in the same colour, with the same dash pattern
/// and marker. Names that a palette lacks come after its own, in the order of their first appearance.
/// The first eight colours are those of Okabe and Ito, with brown for their yellow, which white swallows; violet and olive
/// follow them. 70 names differ from each other in colour or dash pattern.
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
        Self::default().with(names)
    }

    /// The names in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Colour and dash pattern of a name, for those who draw elsewhere: `#0072b2`, and lengths of dashes and gaps,
    /// none if solid.
    pub fn look(&self, name: &str) -> (String, &'static str) {
        let style = self.with([name]).style(name);
        (style.color.to_string(), style.dash)
    }

    /// This palette, followed by the names it lacks.
    pub(crate) fn with<I: IntoIterator<Item: Into<String>>>(&self, added: I) -> Self {
        let mut names = self.names.clone();
        for name in added.into_iter().map(Into::into) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self { names }
    }

    /// The looks of a name; those of the first one for a name it lacks.
    pub(crate) fn style(&self, name: &str) -> Style {
        let index = self.names.iter().position(|known| known == name).unwrap_or(0);
        let round = index / COLORS.len();
        Style {
            color: Color(COLORS[index % COLORS.len()]),
            dash: DASHES[(index + round) % DASHES.len()],
            marker: MARKERS[index % MARKERS.len()],
        }
    }
}

/// A circle if it has no corners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Marker {
    pub(crate) corners: u32,
    /// How far the first corner is from the top, in turns.
    pub(crate) turn: f64,
    /// How far from the middle every first and every second corner is, in radii.
    pub(crate) reach: [f64; 2],
}

pub(crate) const CIRCLE: Marker = Marker { corners: 0, turn: 0.0, reach: [1.0, 1.0] };
pub(crate) const STAR: Marker = Marker { corners: 10, turn: 0.0, reach: [1.0, 0.42] };
const SQUARE: Marker = Marker { corners: 4, turn: 0.125, reach: [1.25, 1.25] };
const TRIANGLE: Marker = Marker { corners: 3, turn: 0.0, reach: [1.35, 1.35] };
pub(crate) const DIAMOND: Marker = Marker { corners: 4, turn: 0.0, reach: [1.3, 1.3] };
const CROSS: Marker = Marker { corners: 8, turn: 0.0, reach: [0.4, 1.4] };

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Style {
    pub(crate) color: Color,
    /// Lengths of dashes and gaps; solid when empty.
    pub(crate) dash: &'static str,
    pub(crate) marker: Marker,
}

const COLORS: [u32; 10] = [
    0x00_72_B2, 0xD5_5E_00, 0x00_9E_73, 0xCC_79_A7, 0x33_33_33, 0xE6_9F_00, 0x56_B4_E9, 0x8C_56_2B,
    0x6A_3D_9A, 0x7A_7A_1F,
];
// Seven, coprime to the ten colours: together they repeat after 70.
const DASHES: [&str; 7] = ["", "9 4", "2.5 3", "10 3 2.5 3", "5 2.5", "14 4 5 4", "10 3 2.5 3 2.5 3"];
const MARKERS: [Marker; 5] = [CIRCLE, SQUARE, TRIANGLE, DIAMOND, CROSS];

/// An opaque colour: a byte each of red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color(pub(crate) u32);

pub(crate) const WHITE: Color = Color(0xFF_FF_FF);
pub(crate) const TEXT: Color = Color(0x22_22_22);
pub(crate) const MUTED: Color = Color(0x5C_5C_5C);
pub(crate) const AXIS: Color = Color(0x80_80_80);
pub(crate) const GRID: Color = Color(0xE8_E8_E8);
pub(crate) const BLUE: Color = Color(COLORS[0]);
pub(crate) const VERMILION: Color = Color(COLORS[1]);
pub(crate) const GREEN: Color = Color(COLORS[2]);
/// From dark violet to yellow.
const VIRIDIS: [u32; 9] = [
    0x44_01_54, 0x48_28_78, 0x3E_4A_89, 0x31_68_8E, 0x26_82_8E, 0x1F_9E_89, 0x6E_CE_58, 0xB5_DE_2B,
    0xFD_E7_25,
];

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

impl Color {
    /// The way from this colour to another, `part` of it gone.
    pub(crate) fn mix(self, other: Self, part: f64) -> Self {
        let (from, to, part) = (self.bytes(), other.bytes(), part.clamp(0.0, 1.0));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
        let mixed = [0, 1, 2].map(|place| (from[place] + part * (to[place] - from[place])).round() as u32);
        Self(mixed.into_iter().fold(0, |color, byte| color << 8 | byte))
    }

    /// A lighter tone, for areas.
    pub(crate) fn soft(self) -> Self {
        self.mix(WHITE, 0.25)
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
        Self(VIRIDIS[below]).mix(Self(VIRIDIS[below + 1]), place - below as f64)
    }

    fn bytes(self) -> [f64; 3] {
        [16, 8, 0].map(|shift| f64::from(self.0 >> shift & 0xFF))
    }

    fn luminance(self) -> f64 {
        let [red, green, blue] = self
            .bytes()
            .map(|byte| byte / 255.0)
            .map(|part| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_differ_in_colour_or_dash() {
        let names: Vec<String> = (0..70).map(|index| index.to_string()).collect();
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
        assert!(COLORS.iter().all(|&color| 1.05 / (Color(color).ink().luminance() + 0.05) >= 4.5));
    }
}
