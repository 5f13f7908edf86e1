//! A summary as bytes, versioned and checksummed ([`truenorth::frame`]), and files that are whole or not there.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use truenorth::frame::{Magic, Unframed, framed, unframed};

use crate::error::{Problem, Result};
use crate::summary::Summary;

/// Summaries of earlier versions, whose features were columns and their levels. Those of version 1 have products without
/// fourth powers.
mod earlier {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use truenorth::CrossProducts;
    use truenorth_features::{Factor, Feature, Missing, Model, Named, Reading, Recipe, Term};

    use crate::events::Items;
    use crate::format::Format;
    use crate::origin::Origin;
    use crate::summary::{Mark, Summary};
    use crate::tally::{FEATURES, ONE};
    use crate::tolerance::Rejected;

    #[derive(Deserialize)]
    struct Earlier<P> {
        recipe: EarlierRecipe,
        features: Vec<Feature>,
        imputed: Vec<usize>,
        products: P,
        rows: u64,
        weight_squares: f64,
        largest: f64,
        files: BTreeMap<String, u64>,
        rejected: Vec<Rejected>,
    }

    #[derive(Deserialize)]
    struct EarlierRecipe {
        layout: Layout,
        buckets: u32,
        intercept: bool,
        missing: Missing,
    }

    #[derive(Deserialize)]
    enum Layout {
        Table { reward: String, numbers: Vec<String>, one_hot: Vec<String>, hashed: Vec<String> },
        Events { format: Format, hashed: bool, items: Option<Items> },
    }

    pub(super) fn read(version: u32, payload: &[u8]) -> postcard::Result<(Summary, &[u8])> {
        if version == 2 {
            let (old, rest) = postcard::take_from_bytes::<Earlier<CrossProducts>>(payload)?;
            return Ok((summary(old)?, rest));
        }
        let (old, rest) = postcard::take_from_bytes::<Earlier<(usize, Vec<f64>)>>(payload)?;
        // Width, and the lower triangle row by row.
        let (width, entries) = &old.products;
        if *width > entries.len() || width * (width + 1) / 2 != entries.len() {
            return Err(postcard::Error::SerdeDeCustom);
        }
        let sum = |i: usize, j: usize| entries[i * (i + 1) / 2 + j];
        // Zeros and ones have the fourth powers that they have; others are taken for Gaussian.
        let fourth = |i: usize| match (sum(i, i), sum(i, ONE)) {
            (square, total) if (square - total).abs() <= 1e-12 * square => square,
            (square, _) => 3.0 * square * square / sum(ONE, ONE).max(f64::MIN_POSITIVE),
        };
        let products = CrossProducts::from_fn(*width, sum, fourth);
        let Earlier { recipe, features, imputed, rows, weight_squares, largest, files, rejected, .. } = old;
        let old =
            Earlier { recipe, features, imputed, products, rows, weight_squares, largest, files, rejected };
        Ok((summary(old)?, rest))
    }

    fn summary(old: Earlier<CrossProducts>) -> postcard::Result<Summary> {
        let Earlier { recipe, features, imputed, products, .. } = old;
        let EarlierRecipe { layout, buckets, intercept, missing } = recipe;
        let field = |named, reading| Term(vec![Factor::Field(named, reading)]);
        let columns = |names: Vec<String>, reading| -> Vec<Term> {
            names.into_iter().map(|name| field(Named::Name(name), reading)).collect()
        };
        let hash = |terms: Vec<Term>| (!terms.is_empty()).then(|| Term(vec![Factor::Hash(terms, buckets)]));
        let (origin, terms, missing, numbers) = match layout {
            Layout::Table { reward, numbers, one_hot, hashed } => {
                let count = numbers.len();
                let mut terms = columns(numbers, Reading::Number);
                terms.extend(columns(one_hot, Reading::Category));
                terms.extend(hash(columns(hashed, Reading::Category)));
                (Origin::Table { reward, chosen: None }, terms, missing, count)
            }
            Layout::Events { format, hashed, items } => {
                let all = field(Named::Pattern("*".to_owned()), Reading::Natural);
                let terms = if hashed { hash(vec![all]).into_iter().collect() } else { vec![all] };
                (Origin::Events { format, items }, terms, Missing::Zero, 0)
            }
        };
        if products.width() != FEATURES + features.len() + imputed.len() || numbers > features.len() {
            return Err(postcard::Error::SerdeDeCustom);
        }
        let mark = |feature: usize| {
            let at = imputed.binary_search(&feature).ok()?;
            Some(products.get(ONE, FEATURES + features.len() + at))
        };
        let mean = |feature: usize| {
            let missing = mark(feature).unwrap_or(0.0);
            (products.get(ONE, FEATURES + feature), products.get(ONE, ONE) - missing)
        };
        let means = (0..numbers).map(|feature| (features[feature].name.clone(), mean(feature))).collect();
        let marks = imputed.iter().map(|&feature| {
            let name = features.get(feature).filter(|_| feature < numbers).map(|it| it.name.clone());
            name.map(|name| Mark { feature, means: vec![name] }).ok_or(postcard::Error::SerdeDeCustom)
        });
        let marks = marks.collect::<postcard::Result<_>>()?;
        let recipe = Recipe { model: Model::new(intercept, terms), missing, ..Recipe::default() };
        let Earlier { rows, weight_squares, largest, files, rejected, .. } = old;
        Ok(Summary {
            origin,
            recipe,
            features,
            marks,
            means,
            products,
            rows,
            weight_squares,
            largest,
            files,
            rejected,
        })
    }
}

const MAGIC: Magic = *b"tnsummary";
const VERSION: u32 = 3;

impl Summary {
    /// The summary as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        framed(MAGIC, VERSION, self)
    }

    /// A summary from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Problem> {
        let damaged = |reason: &str| Problem::Other(format!("the summary is damaged: {reason}"));
        let whole = |version| unframed(MAGIC, version, bytes);
        let payload = match whole(VERSION) {
            Err(Unframed::OtherVersion(version @ 1..VERSION)) => {
                whole(version).map(|payload| earlier::read(version, payload))
            }
            payload => payload.map(postcard::take_from_bytes),
        };
        let read = payload.map_err(|wrong| match wrong {
            Unframed::TooShort if !bytes.is_empty() => damaged("it is too short"),
            Unframed::OtherMagic if bytes.starts_with(b"tn-bandit") => {
                Problem::other("this is a bandit's state, not a summary of logs")
            }
            Unframed::TooShort | Unframed::OtherMagic => {
                Problem::other("this is no summary; `truenorth summarize` makes one from logs")
            }
            Unframed::OtherVersion(found) => Problem::Other(format!(
                "the summary has version {found}, but this build reads version {VERSION}"
            )),
            Unframed::WrongChecksum => damaged("its checksum does not match its content"),
        })?;
        match read {
            Ok((summary, [])) if Self::is_consistent(&summary) => Ok(summary),
            // What a type says about its own numbers is custom.
            Ok(_) | Err(postcard::Error::SerdeDeCustom) => Err(damaged("its parts contradict each other")),
            Err(error) => Err(damaged(&error.to_string())),
        }
    }

    /// Reads a summary.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(Problem::Unreadable);
        bytes.and_then(|bytes| Self::from_bytes(&bytes)).map_err(|problem| problem.in_file(path))
    }

    /// Whether a file starts as summaries do.
    pub fn is_summary(path: impl AsRef<Path>) -> bool {
        let mut start = [0; MAGIC.len()];
        File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
    }

    /// Writes a summary, whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>) -> std::io::Result<()> {
        write_whole(path.as_ref(), &self.to_bytes())
    }
}

/// What a file is called until it is whole.
pub fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a file under another name and renames it when it is whole, so that nothing half-written is ever left
/// under the final name. A link stays one, and what is no file, such as a pipe, is written into.
pub fn write_whole(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if path.exists() && !path.is_file() {
        return fs::write(path, content);
    }
    let part = part(path);
    let written = File::create(&part)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, path));
    written.inspect_err(|_| drop(fs::remove_file(&part)))
}
