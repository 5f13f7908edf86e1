use std::collections::BTreeSet;
use std::fmt::Write as _;

use truenorth_logs::{Names, Plan, Selection, Summary, bucket};

use crate::brute::Brute;
use crate::support::{Dice, Folder, plan, summary};

const TOO_MANY: &str = "there are more than 1000 features by name; hash them";

/// The documented hash: FNV-1a, its upper half folded onto the lower, modulo the buckets.
fn hash(name: &str, buckets: u64) -> u64 {
    let mut hash = 14_695_981_039_346_656_037_u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211);
    }
    ((hash ^ (hash >> 32)) & 0xffff_ffff) % buckets
}

#[test]
fn levels_that_turn_up_in_different_files_are_features_by_name() {
    let folder = Folder::new();
    let mut dice = Dice(21);
    let levels = [&["red", "blue"][..], &["green"], &["blue", "ö,\"x\"", "red"]];
    let (mut paths, mut rows) = (Vec::new(), Vec::new());
    for (file, levels) in levels.iter().enumerate() {
        let mut text = "colour,x,shape,r\n".to_owned();
        for row in 0..8 {
            let (colour, x, reward) = (levels[row % levels.len()], dice.number(), dice.number());
            let shape = format!("s{}", row * file % 5);
            writeln!(text, "\"{}\",{x:?}, {shape} ,{reward:?}", colour.replace('"', "\"\"")).unwrap();
            rows.push((colour, x, shape, reward));
        }
        paths.push(folder.write(&format!("{file}.csv"), text));
    }
    let names: BTreeSet<String> = rows
        .iter()
        .flat_map(|(colour, _, shape, _)| [format!("colour={colour}"), format!("shape={shape}")])
        .collect();
    let features = rows.iter().map(|(colour, x, shape, _)| {
        let has = |name: &String| *name == format!("colour={colour}") || *name == format!("shape={shape}");
        std::iter::once(*x).chain(names.iter().map(|name| f64::from(u8::from(has(name))))).collect()
    });
    let brute = Brute::new(features.collect(), rows.iter().map(|row| row.3).collect());
    let plan = plan(Selection::new("x", "r").with_categories("colour,shape", ""));
    let found = summary(&plan, &paths);
    assert_eq!(found.names()[1..], names.into_iter().collect::<Vec<_>>());
    brute.check_tight(&found);
    let mut parts: Vec<Summary> =
        paths.iter().map(|path| summary(&plan, std::slice::from_ref(path))).collect();
    let mut last = parts.pop().unwrap();
    for part in &parts {
        last.merge(part).unwrap();
    }
    brute.check_tight(&last);
    assert_eq!(last.names(), found.names());
}

#[test]
fn names_in_one_bucket_add_up() {
    let folder = Folder::new();
    let mut dice = Dice(22);
    let buckets = 5;
    let mut brute = Brute::default();
    let mut paths = Vec::new();
    for file in 0..4 {
        let mut text = "user,x,item,r\n".to_owned();
        for _ in 0..40 {
            let (user, x, item, reward) = (dice.below(30), dice.number(), dice.below(9), dice.number());
            writeln!(text, "u{user},{x:?},i{item},{reward:?}").unwrap();
            let mut row = vec![0.0; 6];
            row[0] = x;
            for name in [format!("user=u{user}"), format!("item=i{item}")] {
                row[1 + usize::try_from(hash(&name, buckets)).unwrap()] += 1.0;
                assert_eq!(u64::from(bucket(&name, 5)), hash(&name, buckets));
            }
            brute.rows.push(row);
            brute.rewards.push(reward);
        }
        paths.push(folder.write(&format!("{file}.csv"), text));
    }
    // Two names of a row do share a bucket.
    assert!(brute.rows.iter().any(|row| row[1..].contains(&2.0)));
    let selection = Selection::new("x", "r").with_categories("", "user,item");
    let found = summary(&Plan { buckets: 5, ..plan(selection) }, &paths);
    assert_eq!(found.names(), ["x", "#0", "#1", "#2", "#3", "#4"]);
    brute.check_tight(&found);
    // A bucket is remembered by its first names in the alphabet.
    let examples = found.features().iter().map(|feature| feature.examples.len());
    assert_eq!(examples.collect::<Vec<_>>(), [0, 3, 3, 3, 3, 3]);
    assert!(found.labels()[1].starts_with("#0 (item="), "{}", found.labels()[1]);
}

#[test]
fn more_than_a_thousand_levels_are_refused_with_a_hint() {
    let folder = Folder::new();
    let table = |levels: std::ops::Range<usize>| {
        let rows: Vec<String> = levels.map(|level| format!("1,u{level},2\n")).collect();
        format!("x,user,r\n{}", rows.concat())
    };
    let paths = [
        folder.write("whole.csv", table(0..1001)),
        folder.write("a.csv", table(0..600)),
        folder.write("b.csv", table(401..1000)),
        folder.write("c.csv", table(1000..1001)),
    ];
    let mut plan = plan(Selection::new("x", "r").with_categories("user", ""));
    assert_eq!(
        folder.no_summary(&plan, &paths[..1]),
        format!("whole.csv: {TOO_MANY}").replace(".csv:", ".csv, line 1002:")
    );
    assert_eq!(summary(&plan, &paths[1..3]).dimension(), 1001);
    assert_eq!(folder.no_summary(&plan, &paths[1..]), format!("c.csv: {TOO_MANY}"));
    // Leaving out the rows of new levels would bend the summary, so that is not done either.
    plan.tolerance.skip_malformed = true;
    assert!(folder.no_summary(&plan, &paths[..1]).ends_with(TOO_MANY));
    let hashed = Plan { selection: Some(Selection::new("x", "r").with_categories("", "user")), ..plan };
    let found = summary(&hashed, &paths[..1]);
    assert!(found.dimension() <= 257 && found.rows() == 1001);
}

#[test]
fn names_of_events_are_limited_as_levels_are() {
    let folder = Folder::new();
    let text: Vec<String> = (0..1001).map(|name| format!("1:1:0.5 | f{name}\n")).collect();
    let path = folder.write("a.vw", text.concat());
    let plan = Plan { names: Names::Kept, ..Plan::default() };
    assert!(folder.no_summary(&plan, std::slice::from_ref(&path)).ends_with(TOO_MANY));
    assert_eq!(summary(&Plan { names: Names::Hashed, ..Plan::default() }, &[path]).rows(), 1001);
}

#[test]
fn an_intercept_is_a_feature_that_is_always_one() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "x,intercept,r\n3,7,1\n4,8,2\n");
    let rows = |columns: &[[f64; 2]]| {
        Brute::new(
            (0..2).map(|row| columns.iter().map(|column| column[row]).collect()).collect(),
            vec![1.0, 2.0],
        )
    };
    let (ones, x, named) = ([1.0, 1.0], [3.0, 4.0], [7.0, 8.0]);
    let with = |features: &str, intercept| Plan { intercept, ..plan(Selection::new(features, "r")) };
    let path = std::slice::from_ref(&path);
    let found = summary(&with("x", true), path);
    assert_eq!(found.names(), ["intercept", "x"]);
    rows(&[ones, x]).check_tight(&found);
    // A column of this name is as good as any other, but not beside the made one.
    let found = summary(&with("x,intercept", false), path);
    assert_eq!(found.names(), ["x", "intercept"]);
    rows(&[x, named]).check_tight(&found);
    let said = folder.no_summary(&with("*", true), path);
    assert_eq!(said, "a.csv: there are two columns named `intercept`");
    let alone = Selection::new("", "r").with_categories("intercept", "");
    let found = summary(&Plan { intercept: true, ..plan(alone) }, path);
    assert_eq!(found.names(), ["intercept", "intercept=7", "intercept=8"]);
    rows(&[ones, [1.0, 0.0], [0.0, 1.0]]).check_tight(&found);
}

#[test]
fn a_row_that_is_left_out_leaves_no_level_behind() {
    let folder = Folder::new();
    let text =
        "x,colour,shape,user,r\n1,red,a,u1,2\n1,blue,b,u2,?\n1,green,,u3,2\n1,pink,c,u4,9\n?,grey,d,u5,2\n";
    let mut plan = plan(Selection::new("x", "r").with_categories("colour,shape", "user"));
    plan.tolerance.skip_malformed = true;
    plan.tolerance.range = Some((0.0, 5.0));
    let found = summary(&plan, &[folder.write("a.csv", text)]);
    let bucket = format!("#{:03}", hash("user=u1", 256));
    assert_eq!(found.names(), ["x", &bucket, "colour=red", "shape=a"]);
    assert_eq!(found.labels()[1], format!("{bucket} (user=u1)"));
    Brute::new(vec![vec![1.0; 4]], vec![2.0]).check_tight(&found);
}

#[test]
fn a_column_of_numbers_and_a_level_cannot_have_one_name() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "colour=red,colour,r\n3,red,1\n4,blue,2\n");
    let plan = plan(Selection::new("colour=red", "r").with_categories("colour", ""));
    let said = folder.no_summary(&plan, &[path]);
    assert_eq!(said, "a.csv, line 2: two features are called `colour=red`");
}
