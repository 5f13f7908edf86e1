use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truenorth_features::{Feature, Recipe};
use truenorth_logs::{Format, Missing, Names, Origin, Plan, Rejected, Selection, Summary};

use crate::support::{Folder, plan, summary};

/// A summary's payload, field by field, so that a test can write what no summary would.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Payload {
    origin: Origin,
    recipe: Recipe,
    features: Vec<Feature>,
    /// A feature, and whose means it lacks.
    marks: Vec<(usize, Vec<String>)>,
    means: BTreeMap<String, (f64, f64)>,
    /// Width, sums row by row, sums of fourth powers.
    products: (usize, Vec<f64>, Vec<f64>),
    rows: u64,
    weight_squares: f64,
    largest: f64,
    files: BTreeMap<String, u64>,
    rejected: Vec<Rejected>,
}

const HEADER: usize = 17;

impl Payload {
    fn of(summary: &Summary) -> Self {
        postcard::from_bytes(&summary.to_bytes()[HEADER..]).unwrap()
    }

    fn bytes(&self) -> Vec<u8> {
        sealed(&postcard::to_extend(self, Vec::new()).unwrap())
    }
}

/// A payload below a header whose checksum is right.
fn sealed(payload: &[u8]) -> Vec<u8> {
    let checksum = crc32fast::hash(payload).to_le_bytes();
    [&b"tnsummary"[..], &3_u32.to_le_bytes(), &checksum, payload].concat()
}

/// A summary with all there is: gaps, levels, buckets, rows that were left out.
fn rich(folder: &Folder) -> Summary {
    let path = folder.write(
        "rich.csv",
        "x,y,colour,user,r\n1,2,red,u1,0.5\n,3,blue,u2,0.25\n4,,red,u3,1\n5,6,red,u4,?\n7,8,green,u5,0\n",
    );
    let mut plan = plan(Selection::new("x,y", "r").with_categories("colour", "user"));
    plan.tolerance.missing = Missing::Mean;
    plan.tolerance.skip_malformed = true;
    summary(&Plan { buckets: 3, intercept: true, ..plan }, &[path])
}

fn refused(bytes: &[u8]) -> String {
    Summary::from_bytes(bytes).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn the_bytes_are_read_back_to_the_same_summary() {
    let folder = Folder::new();
    let whole = rich(&folder);
    let bytes = whole.to_bytes();
    let again = Summary::from_bytes(&bytes).unwrap();
    assert_eq!(again, whole);
    assert_eq!(again.to_bytes(), bytes);
    assert_eq!(again.statistic().unwrap(), whole.statistic().unwrap());
    assert_eq!(again.rejected().len(), 1);
    // The test's own idea of the payload is the right one.
    assert_eq!(Payload::of(&whole).bytes(), bytes);
    let events = folder.write("a.vw", "1:1:0.5 | a b:2\n2:0:0.5 | c\n");
    let events = summary(&Plan::default(), &[events]);
    assert_eq!(Summary::from_bytes(&events.to_bytes()).unwrap(), events);
}

#[test]
fn every_changed_byte_and_every_cut_is_refused_in_words() {
    let whole = rich(&Folder::new()).to_bytes();
    for position in 0..whole.len() {
        for change in [1, 0x10, 0x80, 0xFF] {
            let mut bytes = whole.clone();
            bytes[position] ^= change;
            let said = refused(&bytes);
            let expected = match position {
                0..9 => "this is no summary; `truenorth summarize` makes one from logs",
                // Version 3 and this change is an earlier one, whose payload is another.
                9 if change == 1 => "the summary is damaged: ",
                9..13 => "the summary has version ",
                _ => "the summary is damaged: its checksum does not match its content",
            };
            assert!(said.starts_with(expected), "byte {position}: {said}");
        }
    }
    for length in 0..whole.len() {
        let said = refused(&whole[..length]);
        let expected = match length {
            0 => "this is no summary; `truenorth summarize` makes one from logs",
            1..HEADER => "the summary is damaged: it is too short",
            _ => "the summary is damaged: its checksum does not match its content",
        };
        assert_eq!(said, expected, "{length} bytes");
    }
    for more in [&b"\0"[..], b"tnsummary"] {
        assert!(refused(&[&whole[..], more].concat()).contains("checksum"));
    }
}

#[test]
fn other_files_and_other_versions_are_told_apart() {
    let folder = Folder::new();
    let whole = rich(&folder);
    for bytes in [&b"x,r\n1,2\n"[..], b"PAR1", b"tnsnapshot and so on, long enough", b""] {
        assert_eq!(refused(bytes), "this is no summary; `truenorth summarize` makes one from logs");
    }
    let mut bytes = whole.to_bytes();
    bytes[9..13].copy_from_slice(&4_u32.to_le_bytes());
    assert_eq!(refused(&bytes), "the summary has version 4, but this build reads version 3");
    let path = folder.path("other.tns");
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(
        folder.says(&Summary::read(&path).unwrap_err()),
        "other.tns: the summary has version 4, but this build reads version 3"
    );
    assert!(Summary::is_summary(&path));
    assert!(!Summary::is_summary(folder.path("rich.csv")) && !Summary::is_summary(folder.path("absent")));
    let said = folder.says(&Summary::read(folder.path("absent")).unwrap_err());
    assert_eq!(said, "absent: No such file or directory (os error 2)");
}

/// What a hand could change in a payload.
type Change = (&'static str, fn(&mut Payload));

#[test]
fn content_that_contradicts_itself_is_refused_though_the_checksum_is_right() {
    let whole = Payload::of(&rich(&Folder::new()));
    assert!(Summary::from_bytes(&whole.bytes()).is_ok());
    let changes: [Change; 24] = [
        ("fewer fourth powers", |it| it.products.2.truncate(3)),
        ("a negative fourth power", |it| it.products.2[2] = -1.0),
        ("fewer sums", |it| it.products.1.truncate(3)),
        ("more columns", |it| it.products.0 += 1),
        ("more columns than memory", |it| it.products.0 = usize::MAX),
        ("a lost feature", |it| it.features.truncate(4)),
        ("a feature twice", |it| it.features[3] = it.features[2].clone()),
        ("a column of another name", |it| it.features[0].name = "other".to_owned()),
        ("NaN", |it| it.products.1[4] = f64::NAN),
        ("infinity", |it| it.products.1[0] = f64::INFINITY),
        ("NaN among the weights", |it| it.weight_squares = f64::NAN),
        ("an endless row", |it| it.largest = f64::INFINITY),
        ("a mark of no feature", |it| it.marks[1].0 = 99),
        ("marks in no order", |it| it.marks.reverse()),
        ("a mark twice", |it| it.marks[1] = it.marks[0].clone()),
        ("an endless mean", |it| it.means.values_mut().for_each(|mean| mean.0 = f64::INFINITY)),
        ("cuts in no order", |it| drop(it.recipe.cuts.insert("bins(x, 3)".to_owned(), vec![2.0, 1.0]))),
        ("marks though gaps are refused", |it| it.recipe.missing = Missing::Refuse),
        ("a negative number of rows", |it| it.products.1[0] = -1.0),
        ("a negative sum of squares", |it| it.products.1[2] = -1.0),
        ("negative weights", |it| it.weight_squares = -1.0),
        ("a negative length", |it| it.largest = -1.0),
        ("more rows than the files have", |it| it.rows = u64::MAX),
        ("files with more rows than there are", |it| {
            it.files.insert("a".to_owned(), u64::MAX);
        }),
    ];
    for (what, change) in changes {
        let mut payload = whole.clone();
        change(&mut payload);
        let said = refused(&payload.bytes());
        assert_eq!(said, "the summary is damaged: its parts contradict each other", "{what}");
    }
    let more = [&whole.bytes()[HEADER..], b"more"].concat();
    assert_eq!(refused(&sealed(&more)), "the summary is damaged: its parts contradict each other");
}

#[test]
fn changed_bytes_below_a_right_checksum_never_panic() {
    let whole = rich(&Folder::new());
    let payload = &whole.to_bytes()[HEADER..];
    let mut read = 0;
    for position in 0..payload.len() {
        for change in [1, 0x10, 0x80, 0xFF] {
            let mut bytes = payload.to_vec();
            bytes[position] ^= change;
            if let Ok(found) = Summary::from_bytes(&sealed(&bytes)) {
                read += 1;
                // It may be another summary, but not one that breaks something.
                let _ = (found.statistic(), found.labels());
                let mut merged = whole.clone();
                let _ = merged.merge(&found);
                let _ = merged.statistic();
            }
        }
        assert!(Summary::from_bytes(&sealed(&payload[..position])).is_err());
    }
    assert!(read > 0, "numbers may be others");
}

#[test]
fn merging_says_what_differs() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "x,y,c,d,r,s\n1,2,a,b,3,4\n");
    let table = |features: &str, reward: &str, one_hot: &str, hashed: &str| {
        plan(Selection::new(features, reward).with_categories(one_hot, hashed))
    };
    let read = |plan: &Plan| summary(plan, std::slice::from_ref(&path));
    let mut first = read(&table("x,y", "r", "c", "d"));
    let before = first.clone();
    let hashed = Plan { names: Names::Hashed, ..Plan::default() };
    let vw = summary(&hashed, &[folder.write("a.vw", "1:1:0.5 | a\n")]);
    let intercept = Plan { intercept: true, ..table("x,y", "r", "c", "d") };
    let buckets = Plan { buckets: 7, ..table("x,y", "r", "c", "d") };
    let model = "0 + N(x) + N(y) + C(c) + hash(C(d), 256)";
    for (other, sentence) in [
        (read(&table("x,y", "s", "c", "d")), "reward columns: r and s".to_owned()),
        (
            read(&table("x", "r", "c", "d")),
            format!("models: `{model}` and `0 + N(x) + C(c) + hash(C(d), 256)`"),
        ),
        (
            read(&table("x,y", "r", "c,d", "")),
            format!("models: `{model}` and `0 + N(x) + N(y) + C(c) + C(d)`"),
        ),
        (read(&intercept), format!("models: `{model}` and `{}`", &model[4..])),
        (read(&buckets), format!("models: `{model}` and `0 + N(x) + N(y) + C(c) + hash(C(d), 7)`")),
        (vw.clone(), "formats: table and Vowpal Wabbit text".to_owned()),
    ] {
        let said = first.merge(&other).unwrap_err().to_string();
        assert_eq!(said, format!("the summaries have different {sentence}"));
        // A refused merge changes nothing.
        assert_eq!(first, before);
    }
    let named = summary(&Plan { names: Names::Kept, ..Plan::default() }, &[folder.path("a.vw")]);
    assert_eq!(
        vw.clone().merge(&named).unwrap_err().to_string(),
        "the summaries have different models: `0 + hash(id:*, 256)` and `0 + id:*`"
    );
    assert!(matches!(named.origin(), Origin::Events { format: Format::VowpalWabbit, .. }));
}

#[test]
fn an_earlier_recipe_reads_another_file_alike() {
    let folder = Folder::new();
    let first = rich(&folder);
    let path = folder.write("more.csv", "r,user,y,colour,x,z\n0.5,u9,2,pink,1,7\n");
    let more = Plan::default().summarize_alike(&first, &[path], &|_| {}).unwrap();
    let mut both = first.clone();
    both.merge(&more).unwrap();
    assert_eq!(both.rows(), first.rows() + 1);
    assert!(both.names().contains(&"colour=pink".to_owned()));
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = Folder::new();
    let whole = rich(&folder);
    let path = folder.path("out.tns");
    std::fs::write(&path, "older").unwrap();
    whole.write(&path).unwrap();
    assert_eq!(Summary::read(&path).unwrap(), whole);
    std::fs::create_dir(folder.path("taken.tns")).unwrap();
    assert!(whole.write(folder.path("taken.tns")).is_err());
    assert!(whole.write(folder.path("absent/out.tns")).is_err());
    let names = std::fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["out.tns", "rich.csv", "taken.tns"]);
}
