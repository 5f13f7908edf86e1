//! The service with a simulated shop, in one command.

use std::process::Command;

use crate::served::truenorth;
use crate::support::{Scratch, text};

#[test]
fn one_command_opens_a_shop_and_says_where_to_look_and_how_it_went() {
    let folder = Scratch::new();
    let shop = folder.path("shop");
    let call = ["demo", "--live", "--listen", "127.0.0.1:0", "--rate", "250", "--visitors", "600", "--out"];
    let said = truenorth(&[&call[..], &[shop.to_str().unwrap()]].concat());
    assert_eq!((said.code, &*said.stderr), (0, ""), "{}", said.stdout);
    assert!(said.stdout.starts_with("Open http://127.0.0.1:"), "{}", said.stdout);
    let last = said.stdout.lines().last().unwrap();
    let shares: Vec<f64> = last
        .split(' ')
        .zip(last.split(' ').skip(1))
        .filter(|pair| pair.1.starts_with('%'))
        .map(|pair| pair.0.parse().unwrap())
        .collect();
    // How well they do depends on when fits come back, so on what else the machine does: 95 to 97 and 76 to 92 in four runs
    // beside other work. A random choice has less than 50.
    assert!(last.starts_with("600 visitors"), "{last}");
    let &[with, without] = &shares[..] else { panic!("{last}") };
    assert!((85.0..=100.0).contains(&with) && (60.0..=with).contains(&without), "{last}");
    let whole = truenorth(&["verify", shop.join("live").to_str().unwrap()]);
    assert!(whole.code == 0 && whole.stdout.contains("2 bandits"), "{} {}", whole.stdout, whole.stderr);
    // Ctrl-C closes it.
    let mut open = Command::new(env!("CARGO_BIN_EXE_truenorth"))
        .args(["demo", "--live", "--listen", "127.0.0.1:0", "--out"])
        .arg(&shop)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(Command::new("kill").args(["-INT", &open.id().to_string()]).status().unwrap().success());
    let output = open.wait().and_then(|_| open.wait_with_output()).unwrap();
    assert!(
        output.status.success() && text(&output.stdout).contains(" visitors: "),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn what_cannot_start_says_why_in_a_sentence() {
    let folder = Scratch::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap();
    for (call, sentence) in [
        (
            format!("serve --log off --data d --listen {port}"),
            format!("truenorth: cannot listen at {port}: Address already in use"),
        ),
        (
            format!("demo --live --out d --listen {port}"),
            format!("truenorth: cannot listen at {port}: Address already in use"),
        ),
    ] {
        let output = folder.run(&call);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{call}: {said}");
        assert!(said.starts_with(&sentence), "{call}: {said}");
    }
}

#[test]
fn what_is_told_wrong_is_said_in_a_sentence_before_anything_is_made() {
    let folder = Scratch::new();
    folder.write("broken.tn", "nothing of the kind");
    folder.write("logs.csv", "x,reward\n1,0\n2,1\n3,0\n4,1\n");
    folder.prints("summarize logs.csv --features x --reward reward -o logs.tn");
    let whole = std::fs::read(folder.path("logs.tn")).unwrap();
    folder.write("cut.tn", &whole[..whole.len() / 2]);
    for (call, sentence) in [
        ("serve --data logs.csv", "logs.csv: this is a file; a folder is needed"),
        ("serve --data d --bandit x=missing.tn", "bandit `x`: missing.tn: No such file"),
        ("serve --data d --bandit x=broken.tn", "bandit `x`: broken.tn: "),
        ("serve --data d --bandit x=logs.csv", "bandit `x`: logs.csv: "),
        ("serve --data d --bandit x=cut.tn", "bandit `x`: cut.tn: "),
        ("serve --data d --bandit a/b=price", "bandit `a/b`: a bandit's name has"),
        ("serve --data d --bandit x=price+(", "bandit `x`: "),
        ("serve --data d --bandit x=logs.tn --bandit y=bs(price)", "bandit `y`: "),
        ("serve --data d --journal foo", "foo: a journal is `nats://HOST:PORT"),
        ("serve --data d --keep-days 0", "`--keep-days` must be above 0, but is 0"),
        ("serve --data d --keep-days -1", "`--keep-days` must be above 0, but is -1"),
        ("serve --data d --listen nowhere", "`--listen` \"nowhere\": an address has a port"),
        ("serve --data d --listen localhost:99999", "`--listen` \"localhost:99999\": \"99999\" is no port"),
        ("serve --data d --bandit x", "`--bandit` \"x\": say NAME=logs.tn, or NAME=FORMULA"),
        ("verify nowhere", "nowhere: there is no such folder"),
        ("verify logs.csv", "logs.csv: this is a file; a folder is needed"),
    ] {
        let said = folder.says(call);
        assert!(said.starts_with(&format!("truenorth: {sentence}")), "{call}: {said}");
    }
    let output = folder.run("demo --visitors 5");
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--live"), "{output:?}");
}
