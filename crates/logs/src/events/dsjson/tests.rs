use super::super::tests::{dsjson, lines};

fn read(text: &str) -> Vec<String> {
    dsjson(lines(text))
}

/// What is said about one line.
fn of(line: &str) -> String {
    let mut told = read(line);
    assert_eq!(told.len(), 1, "{told:?}");
    told.remove(0)
}

/// An event of one action with these shared features.
fn shared(features: &str) -> String {
    of(&format!(r#"{{"_label_cost":-1,"_labelIndex":0,"c":{{{features},"_multi":[{{}}]}}}}"#))
}

#[test]
fn the_row_is_what_actions_share_and_the_action_that_was_taken() {
    let actions =
        r#""_multi":[{"_tag":"p","i":{"id":"p"}},{"_tag":"q","i":{"id":"q"},"j":[{"w":0.5},{"v":2}]}]"#;
    let rest = r#""c":{"FromUrl":[{"day":"Mon"}],"#;
    let event = |label: &str| of(&format!(r#"{{{label},{rest}{actions},"U":{{"age":3}}}}}}"#));
    let second = "FromUrl.day=Mon, U.age 3, i.id=q, j.w 0.5, j.v 2";
    assert_eq!(
        event(r#""_label_cost":-0.5,"_label_Action":1,"_labelIndex":1,"a":[1]"#),
        format!("0.5: {second}")
    );
    assert_eq!(
        event(r#""_label_cost":2,"_labelIndex":null,"_label_Action":2,"a":[1]"#),
        format!("-2: {second}")
    );
    assert_eq!(event(r#""_label_cost":-0.0,"a":[ 2 ,1]"#), format!("0: {second}"));
    assert_eq!(event(r#""_label_cost":0,"_labelIndex":0"#), "0: FromUrl.day=Mon, U.age 3, i.id=p");
    assert_eq!(event(r#""_label_cost":-1,"_labelIndex":1,"pdrop":0.75"#), format!("1 x4: {second}"));
    assert_eq!(event(r#""_label_cost":-1,"_labelIndex":1,"pdrop":0"#), format!("1: {second}"));
    assert_eq!(event(r#""_label_cost":-1,"_labelIndex":1,"_skipLearn":false"#), format!("1: {second}"));
}

#[test]
fn each_kind_of_value_becomes_the_features_that_vowpal_wabbit_makes_of_it() {
    assert_eq!(
        shared(r#""n":{"a":2,"b":-1.5,"c":0,"d":true,"e":false,"f":null,"g":"x y"}"#),
        "1: n.a 2, n.b -1.5, n.d=true, n.e=false, n.g=x y"
    );
    assert_eq!(
        shared(r#""n":{"_a":1,"_b":{"c":2},"_text":"one  two\tthree","d":1},"_synthetic":false"#),
        "1: n.one, n.two, n.three, n.d"
    );
    assert_eq!(shared(r#""_text":"one","a":{"b":{"c":{"d":4}}}"#), "1: one, a.b.c.d 4");
    assert_eq!(
        shared(r#""v":[1,0,2.5],"s":["x","y"],"o":[{"a":1},{"a":1,"b":{"c":"z"}}]"#),
        "1: v[0], v[2] 2.5, s=x, s=y, o.a, o.a, o.b.c=z"
    );
    assert_eq!(
        shared(r#""v":[[1,2],[3,["x"]],true]"#),
        "1: v[0][0], v[0][1] 2, v[1][0] 3, v[1][1]=x, v[2]=true"
    );
    assert_eq!(
        shared(r#""ü":{"\u00e4\"":"\n"},"big":18446744073709551615,"small":-3"#),
        "1: ü.ä\"=\n, big 18446744073709551615, small -3"
    );
}

#[test]
fn plain_json_of_vowpal_wabbit_is_its_own_context() {
    let line = r#"{"s_":"1","s_":"2","_labelIndex":1,"_label_Action":0,"_label_Cost":1,"_label_Probability":0.5,"_multi":[{"a_":"1"},{"b":2}]}"#;
    assert_eq!(of(line), "-1: s_=1, s_=2, b 2");
    assert_eq!(of(r#"{"s_":"1","_multi":[{"a_":"1"}]}"#), "no action has a reward");
}

#[test]
fn events_that_do_not_count_are_rejected_for_their_reason() {
    let c = r#""c":{"a":1,"_multi":[{"b":2}]}"#;
    assert_eq!(
        of(&format!(r#"{{"_label_cost":-1,"_labelIndex":0,"_skipLearn":true,{c}}}"#)),
        "marked `_skipLearn`"
    );
    for label in [
        r#""a":[1]"#,
        r#""_labelIndex":0"#,
        r#""_label_cost":-1"#,
        r#""_label_cost":-1,"a":[]"#,
        r#""_label_cost":null,"a":[1]"#,
    ] {
        assert_eq!(of(&format!("{{{label},{c}}}")), "no action has a reward", "{label}");
    }
    assert_eq!(of(r#"{"EventId":"e","c":{"a":1}}"#), "no action has a reward");
    for line in
        [r#"{"RewardValue":1.0,"EventId":"e"}"#, r#"{"EventId":"e","ActionTaken":true}"#, r#"{"c":null}"#]
    {
        assert_eq!(of(line), "a reward without its decision");
    }
}

#[test]
fn what_cannot_be_an_event_is_said_and_the_next_line_is_read() {
    let c = r#""c":{"a":1,"_multi":[{"b":2},{"b":3}]}"#;
    let slots = "this is a multi-slot (ccb or slates) event: only events with one decision are read";
    let number = "must be a number of at most 1e50 in size";
    for (line, sentence) in [
        (
            format!(r#"{{"_label_cost":1,"_labelIndex":2,{c}}}"#),
            r#"`_labelIndex` is "2", but must be the place of one of 2 actions"#,
        ),
        (
            format!(r#"{{"_label_cost":1,"_labelIndex":-1,{c}}}"#),
            r#"`_labelIndex` is "-1", but must be the place of an action, counted from 0"#,
        ),
        (
            format!(r#"{{"_label_cost":1,"_label_Action":0,{c}}}"#),
            r#"`_label_Action` is "0", but must be the place of an action, counted from 1"#,
        ),
        (
            format!(r#"{{"_label_cost":1,"a":["x"],{c}}}"#),
            r#"the first of `a` is "x", but must be the place of an action, counted from 1"#,
        ),
        (
            format!(r#"{{"_label_cost":1,"a":[3,1],{c}}}"#),
            r#"the first of `a` is "3", but must be the place of one of 2 actions"#,
        ),
        (
            format!(r#"{{"_label_cost":"x","_labelIndex":0,{c}}}"#),
            &format!("`_label_cost` is \"x\", but {number}"),
        ),
        (
            format!(r#"{{"_label_cost":1e400,"_labelIndex":0,{c}}}"#),
            &format!("`_label_cost` is \"1e400\", but {number}"),
        ),
        (
            format!(r#"{{"_label_cost":1,"_labelIndex":0,"pdrop":1,{c}}}"#),
            r#"`pdrop` is "1", but must be at least 0 and below 1"#,
        ),
        (
            format!(r#"{{"_label_cost":1,"_labelIndex":0,"pdrop":-0.1,{c}}}"#),
            r#"`pdrop` is "-0.1", but must be at least 0 and below 1"#,
        ),
        (
            format!(r#"{{"_label_cost":1,"_labelIndex":0,"_skipLearn":1,{c}}}"#),
            r#"`_skipLearn` is "1", but must be true or false"#,
        ),
        (
            format!(r#"{{"_label_cost":1,"_label_cost":2,"_labelIndex":0,{c}}}"#),
            "there are two columns named `_label_cost`",
        ),
        (
            r#"{"_label_cost":1,"_labelIndex":0,"c":{"a":1}}"#.into(),
            "the event has a cost, but no list `_multi` of the actions",
        ),
        (
            r#"{"_label_cost":1,"_labelIndex":0,"c":{"a":{"b":1e60},"_multi":[{}]}}"#.into(),
            &format!("feature `a.b` is \"1e60\", but {number}"),
        ),
        (r#"{"c":{"_multi":[{}],"_slots":[{}]}}"#.into(), slots),
        (r#"{"c":{"_multi":[{}]},"_outcomes":[]}"#.into(), slots),
        (
            r#"{"_label_cost":1,"_labelIndex":0,"c":5}"#.into(),
            "this is not a JSON object: invalid type: integer `5`, expected an object at column 38",
        ),
        (
            r#"{"_label_cost":1,"_labelIndex":0,"c":{"_multi":[7]}}"#.into(),
            "this is not a JSON object: invalid type: integer `7`, expected an object at column 49",
        ),
        (
            "[CHECKPOINT]".into(),
            "this is not a JSON object: invalid type: sequence, expected an object at column 1",
        ),
        (r#"{"c":{}"#.into(), "this is not a JSON object: EOF while parsing an object at column 7"),
    ] {
        let text = format!("\n{line}\n{{\"EventId\":1}}\n");
        assert_eq!(
            read(&text),
            [format!("it, line 2: {sentence}"), "a reward without its decision".into()],
            "{line}"
        );
    }
}

#[test]
fn nesting_without_end_is_refused_where_it_would_be_walked_and_ignored_elsewhere() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let said = shared(&format!(r#""a":{deep}"#));
    assert!(
        said.starts_with("it, line 1: this is not a JSON object: recursion limit exceeded at column "),
        "{said}"
    );
    assert_eq!(shared(&format!(r#""_a":{deep},"b":1"#)), "1: b");
    let deep = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
    assert_eq!(shared(&format!(r#""a":{deep}"#)), format!("1: {}a", "a.".repeat(100)));
}
