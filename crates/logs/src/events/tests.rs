use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use truenorth_features::{Event, Value};

use super::{dsjson, is_obd_header, looks_like_dsjson, looks_like_vw, obd, vw};
use crate::error::{Error, Problem, Result};
use crate::event::{EventLines, Events};
use crate::source::lines::Lines;

/// Lines that are in memory.
pub(super) fn lines(text: impl Into<Vec<u8>>) -> Lines {
    Lines::new(Cursor::new(text.into()))
}

/// Events of the Decision Service.
pub(super) fn dsjson(lines: Lines) -> Vec<String> {
    told(Ok(EventLines { lines, counting: true, read: dsjson::read }))
}

/// What comes out of a file, one sentence for each event.
pub(super) fn told<E: Events + 'static>(events: Result<E>) -> Vec<String> {
    told_by(events.map(|events| Box::new(events) as Box<dyn Events>))
}

/// What comes out of a file of Vowpal Wabbit or of the Decision Service.
pub(super) fn told_by(events: Result<Box<dyn Events>>) -> Vec<String> {
    let mut events = match events {
        Ok(events) => events,
        Err(fault) => return vec![said(fault)],
    };
    let (mut event, mut told) = (Event::default(), Vec::new());
    loop {
        event.clear();
        told.push(match events.next(&mut event) {
            Ok(None) => return told,
            Err(Error { problem: Problem::Uncounted(why), .. }) => why.to_owned(),
            Ok(Some(_)) => {
                let (reward, action) = (event.reward.unwrap(), event.chosen.unwrap());
                assert!(event.weight >= 1.0 && reward.abs() <= 1e50);
                assert!(reward != 0.0 || reward.is_sign_positive());
                let fields = event.context().chain(event.action(action));
                let features = fields.filter_map(|(name, value)| match value {
                    Value::Number(number) => {
                        assert!(number.abs() <= 1e50);
                        (number != 0.0).then(|| unless_one(name, " ", number))
                    }
                    Value::Truth(truth) => Some(format!("{name}={truth}")),
                    Value::Text(text) => Some(format!("{name}={text}")),
                    Value::Cell(digits) => Some(format!("{name} {digits}")),
                    Value::Missing => None,
                });
                let features: Vec<String> = features.collect();
                let paid = unless_one(&reward.to_string(), " x", event.weight);
                // Where nothing is known of an action but its id, that is all there is to show.
                let alone = event.action(action).next().is_none() && event.id(action) != "1";
                let id = if alone { format!(" [{}]", event.id(action)) } else { String::new() };
                format!("{paid}{id}: {}", features.join(", "))
            }
            Err(fault) => said(fault),
        });
        assert!(told.len() <= 100_000, "it does not end");
    }
}

/// A name and a number, of which 1 goes without saying.
fn unless_one(name: &str, between: &str, value: f64) -> String {
    match value.to_string().as_str() {
        "1" => name.to_owned(),
        value => format!("{name}{between}{value}"),
    }
}

fn said(fault: Error) -> String {
    fault.in_file(Path::new("it")).to_string()
}

#[test]
fn the_first_line_tells_the_format() {
    let vw = [
        "shared | a",
        "shared |User a",
        "0:1:0.5 | a",
        "| a",
        " |ns a:2",
        "1 2 3 | a",
        "1:2:.5 tag| a",
        "'tag| a",
        "ccb shared | a",
        "ca 1.5:0.2:0.01 | a",
        "1:2:.5| a",
    ];
    let dsjson = [
        r#"{"c":{"_multi":[]}}"#,
        r#"{"_label_cost":-1}"#,
        r#"{"EventId":"a","RewardValue":1}"#,
        r#"{"_outcomes":[]}"#,
    ];
    let obd = [",timestamp,item_id,position,click,propensity_score", "\"item_id\", position ,click"];
    let other = [
        "",
        "a,b,c",
        "a|b|c",
        "1|2|3",
        "a b|c",
        "{\"c\":1}",
        "{\"a\":\"|\"}",
        "{",
        "[1]",
        ",item_id,feature_0",
    ];
    for line in [&vw[..], &dsjson[..], &obd[..], &other[..]].concat() {
        assert_eq!(looks_like_vw(line), vw.contains(&line), "{line}");
        assert_eq!(looks_like_dsjson(line), dsjson.contains(&line), "{line}");
        assert_eq!(is_obd_header(line), obd.contains(&line), "{line}");
    }
}

#[test]
fn lines_without_end_are_one_error_and_the_next_line_is_read() {
    let mut text = b"1:2:0.5 | a\n1:2:0.5 | ".to_vec();
    text.resize(130_000_000, b'x');
    text.extend(b"\n1:3:0.5 | b\n");
    let mut lines = lines(text);
    let ends =
        [lines.next().is_ok_and(|more| more), lines.next().is_err(), lines.next().is_ok_and(|more| more)];
    assert_eq!(ends, [true; 3]);
    assert_eq!(lines.line, b"1:3:0.5 | b");
    assert_eq!(said(Problem::Empty.at(lines.place())), "it, line 3: the file is empty");
}

#[test]
fn damaged_gzip_is_one_error_and_then_the_end() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all("0:1:0.5 | a\n\n".repeat(20_000).as_bytes()).unwrap();
    let whole = gzip.finish().unwrap();
    let file = tempfile::Builder::new().suffix(".gz").tempfile().unwrap();
    std::fs::write(file.path(), &whole[..whole.len() / 2]).unwrap();
    let told = told_by(vw::open(Lines::open(file.path()).unwrap(), true));
    let (last, events) = told.split_last().unwrap();
    assert!(last.contains("the gzip data is damaged: "), "{last}");
    assert!(events.len() > 5_000 && events.iter().all(|event| event == "-1: a"));
}

#[test]
fn names_cannot_take_far_more_memory_than_the_line() {
    let long = "n".repeat(1_000_000);
    let sentence = "it, line 1: the event's fields take more than 64 MB";
    let text = format!("1:2:0.5 |{long} {}\n", "a ".repeat(100));
    assert_eq!(told_by(vw::open(lines(text), true)), [sentence]);
    let text = format!(
        r#"{{"_label_cost":1,"_labelIndex":0,"c":{{"{long}":[{}1],"_multi":[{{}}]}}}}"#,
        "1,".repeat(100)
    );
    assert_eq!(dsjson(lines(text)), [sentence]);
}

/// Events, other outcomes and the sum of rewards of a sample.
fn counts(told: Vec<String>) -> (usize, BTreeMap<String, usize>, f64) {
    let (mut events, mut others, mut sum) = (0, BTreeMap::new(), 0.0);
    for sentence in told {
        let paid = sentence.split([':', ' ']).next().and_then(|reward| reward.parse::<f64>().ok());
        match paid {
            Some(reward) => (events, sum) = (events + 1, sum + reward),
            None => *others.entry(sentence).or_default() += 1,
        }
    }
    (events, others, sum)
}

#[test]
fn the_samples_have_the_events_that_their_readme_tells() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/log-samples");
    if !folder.exists() {
        println!("skipped: {} is not there", folder.display());
        return;
    }
    let lines = |name: &str| Lines::open(&folder.join(name)).unwrap();
    let all = |told: Vec<String>| {
        let (events, others, sum) = counts(told);
        (events, others.into_iter().collect::<Vec<_>>(), format!("{sum:.1}"))
    };
    let none = || vec![("no action has a reward".to_owned(), 5)];
    assert_eq!(all(told_by(vw::open(lines("vw-cb-adf-small.txt"), true))), (10, none(), "-5.0".to_owned()));
    assert_eq!(
        all(told_by(vw::open(lines("vw-cb-adf-fractional-costs.txt"), true))),
        (10, none(), "-1.0".to_owned())
    );
    assert_eq!(all(told_by(vw::open(lines("vw-cb-adf-news.txt"), true))), (113, vec![], "41.0".to_owned()));

    let dsjson = |name: &str| dsjson(lines(name));
    assert_eq!(all(dsjson("vw-dsjson-cb.json")), (23, vec![], "12.0".to_owned()));
    assert_eq!(all(dsjson("vw-dsjson-production.json")), (3, vec![], "2.0".to_owned()));
    let edges = dsjson("vw-dsjson-dangling-rewards.json");
    assert_eq!(edges.len(), 8);
    assert_eq!(edges[0], "marked `_skipLearn`");
    assert!(edges[1..7].iter().all(|sentence| sentence == "a reward without its decision"), "{edges:?}");
    assert!(edges[7].starts_with("it, line 8: this is not a JSON object: "), "{edges:?}");
    let slots = dsjson("vw-dsjson-ccb.json");
    assert_eq!(slots.len(), 59);
    for (line, sentence) in (1..).zip(slots) {
        let only = "only events with one decision are read";
        assert_eq!(sentence, format!("it, line {line}: this is a multi-slot (ccb or slates) event: {only}"));
    }

    let men = obd::Items::read(&folder.join("obd-item_context-men.csv")).unwrap();
    for items in [None, Some(&men)] {
        let read = all(told(obd::open(lines("obd-random-men-200.csv"), items, false)));
        assert_eq!(read, (200, vec![], "0.0".to_owned()));
    }
    assert_eq!(
        all(told(obd::open(lines("obd-bts-women-200.csv"), None, false))),
        (200, vec![], "1.0".to_owned())
    );
    // Most of the women's items are not in the men's table.
    let mixed = told(obd::open(lines("obd-bts-women-200.csv"), Some(&men), false));
    assert_eq!(mixed[0], "it, line 2: `item_id` is \"36\", but must be an item of the table of items");
    let (events, others, _) = counts(mixed);
    assert_eq!((events, others.len()), (60, 140));
    assert_eq!(
        told(obd::open(lines("obd-item_context-men.csv"), None, false)),
        ["it: this is a table of items, without a column `click`: it goes beside the log it belongs to"]
    );
}

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % limit.max(1)
    }

    /// One to four kinds of damage to a text.
    fn damaged(&mut self, text: &str) -> Vec<u8> {
        const PIECES: [&str; 16] = [
            "1e400", "-1e49", "NaN", "inf", "1e60", "|", ":", "\n\n", "\"", "{", "]", "\u{e9}", "null",
            "shared ", "-0", ",",
        ];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                1 => bytes.truncate(at),
                2 => drop(bytes.drain(at..(at + self.below(20)).min(bytes.len()))),
                3 => drop(bytes.splice(at..at, "[{\"a\":".repeat(self.below(300)).into_bytes())),
                4 => {
                    let piece = bytes[at..(at + self.below(80)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
                _ => drop(bytes.splice(at..at, PIECES[self.below(PIECES.len())].bytes())),
            }
        }
        bytes
    }
}

#[test]
fn damaged_logs_are_read_or_refused_and_never_a_panic() {
    let adf = "shared |u a:2 b\n0:1:0.5 |x:2 c\n'tag |x d\n\n|x c\n0:-0.5:1 tag|x d:-1e3\n";
    let cb = "1:2:0.4 3 4 | a b:2\n2:-1:.5 |n:3 c\n 'x| d\n";
    let json = concat!(
        r#"{"_label_cost":-1.5,"_labelIndex":1,"pdrop":0.5,"a":[2,1],"c":"#,
        r#"{"u":{"age":3,"_text":"a b","t":[1,[2,"x"]]},"#,
        r#""_multi":[{"i":{"id":"p"}},{"i":{"id":"q","on":true,"off":null}}]}}"#,
        "\n",
        r#"{"_label_cost":0,"_label_Action":1,"_skipLearn":false,"c":"#,
        r#"{"k":["a","b",{"z":1e-5}],"_multi":[{"w":0.5}]}}"#,
        "\n",
        r#"{"RewardValue":1,"EventId":"e"}"#,
        "\n",
    );
    let log = ",timestamp,item_id,position,click,propensity_score,user_feature_0,\
               user-item_affinity_0,user-item_affinity_1\n0,t,0,1,0,.5,\"a,b\",0.5,0\n1,t,1,2,1,.5,c,0,2\n";
    let table = ",item_id,item_feature_0,item_feature_1\n0,0,-0.5,a\n1,1,3,\"b\"\n";
    let items = obd::Items::from_lines(lines(table)).unwrap();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut read = [0; 5];
    let mut count = |format: usize, told: Vec<String>| read[format] += counts(told).0;
    for _ in 0..2000 {
        count(0, told_by(vw::open(lines(random.damaged(adf)), true)));
        count(1, told_by(vw::open(lines(random.damaged(cb)), true)));
        count(2, dsjson(lines(random.damaged(json))));
        count(3, told(obd::open(lines(random.damaged(log)), Some(&items), false)));
        if let Ok(items) = obd::Items::from_lines(lines(random.damaged(table))) {
            count(4, told(obd::open(lines(log), Some(&items), false)));
        }
    }
    // Damage leaves many events whole, so the readers were not stopped at the door.
    assert!(read.iter().all(|&events| events > 500), "{read:?}");
}
