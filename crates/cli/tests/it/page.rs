//! The page in a browser: what it shows, to whom, and what it makes of what others wrote.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::served::Service;
use crate::support::Scratch;

/// The demonstration's shop, which is open as long as this is held.
struct Shop {
    process: Child,
    address: String,
}

impl Shop {
    fn open(folder: &Scratch) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_truenorth"))
            .args(["demo", "--live", "--listen", "127.0.0.1:0", "--rate", "60", "--out"])
            .arg(folder.path("shop"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned();
        Self { process, address }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// That the page fits its window, and that everything that takes the focus has a name.
fn check(browser: &mut Browser, width: u32) {
    let wide = browser.value("document.documentElement.scrollWidth");
    assert!(wide.as_u64().unwrap() <= u64::from(width), "{wide} in a window of {width}");
    let tree = browser.tell("Accessibility.getFullAXTree", &json!({}));
    for node in tree["nodes"].as_array().unwrap() {
        let focusable = node["properties"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|property| property["name"] == "focusable" && property["value"]["value"] == true);
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let named = node["name"]["value"].as_str().is_some_and(|name| !name.trim().is_empty());
        let needs = focusable && role != "RootWebArea" || matches!(role, "image" | "heading" | "table");
        assert!(!needs || named || node["ignored"] == true, "{node}");
    }
}

/// That labels of charts are large enough to be read, inside of their charts, and that none covers another.
fn check_labels(browser: &mut Browser) {
    let found = browser.value(
        "[...document.querySelectorAll('figure svg')].map(svg => {
           const labels = [...svg.querySelectorAll('text')], at = labels.map(label => label.getBoundingClientRect());
           const sizes = labels.map(label => parseFloat(getComputedStyle(label).fontSize) * label.getScreenCTM().a);
           const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
           const covered = at.some((a, i) => at.some((b, k) => i < k && meet(a, b)));
           const box = svg.getBoundingClientRect(), out = at.some(a => a.left < box.left - 1 || a.right > box.right + 1);
           return { labels: labels.length, smallest: Math.min(...sizes), covered, out };
         })",
    );
    for chart in found.as_array().unwrap() {
        assert!(
            chart["labels"].as_u64().unwrap() > 3 && chart["smallest"].as_f64().unwrap() >= 11.0,
            "{found}"
        );
        assert!(chart["covered"] == false && chart["out"] == false, "{found}");
    }
    assert_eq!(found.as_array().unwrap().len(), 3);
}

#[test]
fn the_page_moves_with_the_shop_on_any_screen_and_explains_a_decision_to_who_has_no_mouse() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Scratch::new();
    let shop = Shop::open(&folder);
    // Some minutes of the shop in some seconds, so that there is something to see.
    thread::sleep(Duration::from_secs(4));
    browser.look(1400, 1000, false);
    browser.open(&format!("{}/#with-logs", shop.address));
    browser.wait(
        "!document.getElementById('bandit').hidden && document.querySelectorAll('#rates path').length === 2",
    );
    let paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime";
    let paint = browser.value(paint).as_f64().unwrap();
    assert!(paint < 1000.0, "first paint after {paint} ms");
    println!("first paint after {paint:.0} ms");
    // Live: the numbers move without anybody doing anything.
    let decisions = "document.querySelector('#numbers dd').textContent";
    let before = browser.value(decisions);
    browser.wait(&format!("{decisions} !== {before}"));
    browser.wait("document.querySelectorAll('#means path').length === 2");
    let words = browser.value("document.getElementById('means-says').innerText");
    assert!(words.as_str().unwrap().contains("predicted by the logs"), "{words}");
    let rows = browser.value("[...document.querySelectorAll('#features tr')].map(row => row.innerText)");
    assert!(
        rows.as_array().unwrap().iter().any(|row| row.as_str().unwrap().contains("item=sunscreen")),
        "{rows}"
    );
    let audit = browser.value("document.getElementById('audit').innerText");
    let told = "Before anything was live, the logs' 3,000 rows were worth about 428 live rounds if the coefficients ";
    assert!(audit.as_str().unwrap().starts_with(told), "{audit}");
    let table = browser
        .value("document.getElementById('known').innerText + document.getElementById('more').innerText");
    for said in ["told apart", "for one feature by itself, at 90 %"] {
        assert!(table.as_str().unwrap().contains(said), "{table}");
    }
    // A decision by hand, with keys alone.
    browser.wait("document.getElementById('asked').value.includes('sunscreen')");
    browser.value("document.getElementById('asked').focus()");
    browser.press("Tab", 9, "");
    assert_eq!(browser.value("document.activeElement.textContent"), "Show");
    browser.press("Enter", 13, "\r");
    browser.wait("document.querySelectorAll('#answer > .wide tr').length === 5");
    let answer = browser.value("document.getElementById('answer').innerText");
    // What is being read is not replaced by what is asked meanwhile.
    let asked = browser.value("document.getElementById('asked').value");
    thread::sleep(Duration::from_millis(4500));
    assert_eq!(browser.value("document.getElementById('asked').value"), asked);
    // One round in some asks live data alone, which is said in other words.
    let answer = answer.as_str().unwrap().to_lowercase();
    assert!(answer.contains("would be played") && answer.contains("the policy "), "{answer}");
    for (width, height, dark, name) in [
        (1400, 1000, false, "service"),
        (1400, 1000, true, "service-dark"),
        (360, 780, false, "service-phone"),
        (360, 780, true, "service-phone-dark"),
    ] {
        browser.look(width, height, dark);
        // Charts follow the window at once, not when there is news.
        browser.value("dispatchEvent(new Event('resize')), scrollTo(0, 0)");
        check_labels(&mut browser);
        thread::sleep(Duration::from_millis(2500));
        check(&mut browser, width);
        check_labels(&mut browser);
        browser.picture(name);
    }
    let [light, dark] = [false, true].map(|dark| {
        browser.look(360, 780, dark);
        browser.value("getComputedStyle(document.body).backgroundColor")
    });
    assert_ne!(light, dark);
    // Nothing comes from elsewhere, and nothing was complained about.
    let others = browser.value("performance.getEntriesByType('resource').filter(entry => !entry.name.startsWith(location.origin)).length");
    assert_eq!(others, 0);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn a_page_without_a_past_says_so_and_its_form_is_answered_at_once() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Scratch::new();
    assert!(folder.run("demo").status.success());
    let (data, logs) = (folder.path("data"), format!("shop={}", folder.path("demo/logs.tn").display()));
    let service = Service::start(&data, &["--bandit", &logs]);
    browser.look(360, 780, false);
    let shown = "document.getElementById('answer').innerText";
    let tried = |browser: &mut Browser, service: &Service| {
        browser.open(&format!("http://{}/#shop", service.address));
        browser.wait("document.getElementById('waits-says').innerText !== ''");
        browser.value("document.querySelector('#try button').click()");
        browser.wait("document.querySelectorAll('#answer tr').length === 3");
        let answer = browser.value(shown);
        for word in ["mean", "ucb", "lcb", "ayer", "spent"] {
            assert!(!answer.as_str().unwrap().contains(word), "{word}: {answer}");
        }
        browser.value("document.querySelector('main').innerText").as_str().unwrap().to_owned()
    };
    let page = tried(&mut browser, &service);
    for said in [
        "no decision yet.",
        "no reward yet.",
        "decided with the logs\n–",
        "Reliance on a feature starts lower",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(!page.contains("e\u{2212}"), "a number that is 0 is not shown as such: {page}");
    for (sent, said) in
        [(" ", "Nothing was sent."), ("{a", "This is not JSON: key must be a string at line 1 column 2.")]
    {
        browser.value(&format!("document.getElementById('asked').value = {sent:?}"));
        browser.value("document.querySelector('#try button').click()");
        browser.wait(&format!("{shown} === {said:?}"));
    }
    let mut client = service.client();
    let (_, report) = client.call("GET", "/v1/bandits/shop/report", &Value::Null);
    let (_, decided) = client.call("POST", "/v1/bandits/shop/decisions", &report["example"]);
    let paid = json!({"decision_id": decided["decision_id"], "reward": 1});
    assert_eq!(client.call("POST", "/v1/bandits/shop/rewards", &paid).0, 200);
    service.stop();
    let page = tried(&mut browser, &Service::start(&data, &[]));
    for said in ["no decision since the service was started.", "no reward since the service was started."] {
        assert!(page.contains(said), "{said}: {page}");
    }
    // What was tried and cannot be read is refused, which a browser complains about.
    assert!(browser.complaints.iter().all(|complaint| complaint.contains("400")), "{:?}", browser.complaints);
}

#[test]
fn the_pages_of_the_tour_fit_every_screen_and_break_no_option() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Scratch::new();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_truenorth"));
    assert!(demo.arg("demo").arg("--out").arg(folder.path("demo")).output().unwrap().status.success());
    for page in ["index.html", "audit.html"] {
        let address = format!("file://{}", folder.path("demo").join(page).display());
        let mut papers = Vec::new();
        for (width, dark) in [(360, false), (360, true), (1400, false), (1400, true)] {
            browser.look(width, 800, dark);
            browser.open(&address);
            let wide = browser.value("document.documentElement.scrollWidth");
            assert!(wide.as_u64().unwrap() <= u64::from(width), "{page}: {wide} in a window of {width}");
            // What is wider than its box scrolls inside of it.
            let cut = browser.value(
                "[...document.querySelectorAll('pre, table, figure svg')].filter(part => \
                 part.closest('.scroll, .paper') === null).length",
            );
            assert_eq!(cut, 0, "{page}");
            let broken = browser.value(
                "[...document.querySelectorAll('.word')].filter(word => word.textContent.length < 20 && \
                 word.getClientRects().length > 1).length",
            );
            assert_eq!(broken, 0, "{page}");
            papers.push(browser.value("getComputedStyle(document.body).backgroundColor"));
        }
        assert!(papers[0] != papers[1] && papers[0] == papers[2] && papers[1] == papers[3], "{papers:?}");
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn what_others_wrote_is_shown_as_text_and_the_token_stays_in_the_tab() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Scratch::new();
    let token = "correct-horse-battery";
    let service = Service::start(&folder.path("data"), &["--token", token]);
    let mut client = service.client();
    client.token = Some(token.to_owned());
    let evil = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>";
    assert_eq!(client.call("PUT", "/v1/bandits/news", &json!({"model": "item + `<b>x</b>`"})).0, 201);
    for round in 0..20 {
        let actions: Vec<Value> =
            [evil, "b"].iter().map(|item| json!({"id": item, "item": item, "<b>x</b>": round})).collect();
        let asked = json!({"context": {evil: evil}, "actions": actions, "id": format!("{round}")});
        assert_eq!(client.call("POST", "/v1/bandits/news/decisions", &asked).0, 200);
        let paid = json!({"decision_id": format!("{round}"), "reward": 1});
        assert_eq!(client.call("POST", "/v1/bandits/news/rewards", &paid).0, 200);
    }
    browser.look(360, 780, false);
    let page = format!("http://{}/#%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", service.address);
    browser.open(&page);
    // Without a token nothing is asked of the service, and nothing is shown.
    browser.wait("!document.getElementById('access').hidden");
    assert_eq!(browser.value("document.getElementById('bandit').hidden"), true);
    let state = |said: &str| format!("document.getElementById('state').innerText === '{said}'");
    for (given, then) in [
        ("another", state("The service does not accept this token.")),
        (token, "document.querySelectorAll('#features tr').length >= 2".to_owned()),
    ] {
        browser.value("document.getElementById('token').value = ''");
        browser.value("document.getElementById('token').focus()");
        browser.write(given);
        browser.press("Enter", 13, "\r");
        browser.wait(&then);
    }
    // A row that is swiped keeps its name.
    let place = "document.querySelector('#features td').getBoundingClientRect().left";
    let first = browser.value(place);
    browser.value("document.querySelector('.wide:has(#known)').scrollLeft = 9999");
    assert_eq!(browser.value(place), first);
    browser.wait("document.getElementById('asked').value.includes('onerror')");
    browser.value("document.querySelector('#try button').click()");
    browser.wait("document.querySelectorAll('#answer > .wide tr').length === 3");
    let text = browser.value("document.body.innerText");
    assert!(text.as_str().unwrap().contains("<img src=x onerror"), "{text}");
    let unknown = browser.value("document.getElementById('unknown').innerText");
    assert!(unknown.as_str().unwrap().contains("<img src=x onerror"), "{unknown}");
    assert!(unknown.as_str().unwrap().ends_with("(20 times)."), "{unknown}");
    // There are no logs, and nothing is said of them.
    let columns = "[...document.querySelectorAll('#known th')].filter(head => head.offsetParent).map(head => head.innerText)";
    assert_eq!(browser.value(columns), json!(["feature", "estimated coefficient"]));
    browser.wait("document.getElementById('means-says').innerText === '1 on average.'");
    assert_eq!(browser.value("document.title"), "truenorth");
    assert_eq!(browser.value("document.querySelectorAll('main img, main script, main b').length"), 0);
    check(&mut browser, 360);
    assert_eq!(browser.value("document.cookie + JSON.stringify(localStorage)"), "{}");
    assert_eq!(browser.value(&format!("document.documentElement.outerHTML.includes('{token}')")), false);
    // Even if markup got in, no script of it would run.
    browser.value("document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"document.title=1\">'), true");
    thread::sleep(Duration::from_millis(300));
    assert_eq!(browser.value("document.title"), "truenorth");
    let complaints: Vec<&String> = browser
        .complaints
        .iter()
        // What was done to it above, and the wrong token.
        .filter(|complaint| !complaint.contains("Content Security Policy") && !complaint.contains("401"))
        .collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}
