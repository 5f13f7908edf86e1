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
    folder.write("broken.tn", "nothing of the kind");
    folder.write("file", "");
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
        ("serve --log off --data file --listen 127.0.0.1:0".to_owned(), "truenorth: file: ".to_owned()),
        (
            "serve --log off --data a --listen 127.0.0.1:0 --bandit x=missing.tn".to_owned(),
            "truenorth: bandit `x`: missing.tn: No such file".to_owned(),
        ),
        (
            "serve --log off --data b --listen 127.0.0.1:0 --bandit x=broken.tn".to_owned(),
            "truenorth: bandit `x`: broken.tn: ".to_owned(),
        ),
        (
            "serve --log off --data c --listen 127.0.0.1:0 --bandit a/b=price".to_owned(),
            "truenorth: bandit `a/b`: a bandit's name has".to_owned(),
        ),
        (
            "serve --log off --data e --listen 127.0.0.1:0 --bandit x=price+(".to_owned(),
            "truenorth: bandit `x`: ".to_owned(),
        ),
        (
            "serve --log off --data f --listen 127.0.0.1:0 --journal sqlite".to_owned(),
            "truenorth: sqlite: a journal is `nats://HOST:PORT".to_owned(),
        ),
        ("verify nowhere".to_owned(), "truenorth: nowhere".to_owned()),
    ] {
        let output = folder.run(&call);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{call}: {said}");
        assert!(said.starts_with(&sentence), "{call}: {said}");
    }
    for (call, sentence) in [
        ("serve --bandit x", "say NAME=logs.tn, or NAME=FORMULA"),
        ("serve --listen nowhere", "`--listen` \"nowhere\": an address has a port"),
        ("demo --visitors 5", "--live"),
    ] {
        let output = folder.run(call);
        assert!(
            output.status.code() == Some(2) && text(&output.stderr).contains(sentence),
            "{call}: {}",
            text(&output.stderr)
        );
    }
}
