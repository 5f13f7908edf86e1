//! What a browser makes of the pages. Skipped where there is none.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use truenorth_audit::page;

use crate::samples;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const WIDTHS: [u32; 3] = [360, 800, 1400];
const PATIENCE: Duration = Duration::from_mins(1);

/// What a browser says about a page in a frame of some width.
#[derive(Debug)]
struct Seen {
    name: String,
    width: u32,
    scroll_width: u32,
    background: String,
    loaded: u32,
}

/// A folder that goes away with its owner.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    let places = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

/// Every page in frames of every width; one start of the browser looks at all of them.
fn wrapper(pages: &[(String, String)]) -> String {
    let frames = pages.iter().flat_map(|(name, html)| {
        WIDTHS.map(|width| {
            let document = html.replace('&', "&amp;").replace('"', "&quot;");
            format!("<iframe data-name=\"{name}\" width=\"{width}\" height=\"600\" srcdoc=\"{document}\"></iframe>\n")
        })
    });
    let frames: String = frames.collect();
    format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">\n\
         <style>iframe {{ border: 0; display: block; }}</style>\n<pre id=\"seen\"></pre>\n{frames}\
         <script>addEventListener('load', () => {{
           const seen = [...document.querySelectorAll('iframe')].map(frame => {{
             const inside = frame.contentWindow, page = frame.contentDocument;
             const background = inside.getComputedStyle(page.body).backgroundColor;
             const loaded = inside.performance.getEntriesByType('resource').length;
             const line = [frame.dataset.name, inside.innerWidth, page.documentElement.scrollWidth, background, loaded];
             frame.srcdoc = '';
             return line.join('|');
           }});
           document.getElementById('seen').textContent = '\\nBEGIN\\n' + seen.join('\\n') + '\\nEND\\n';
         }});</script>\n"
    )
}

/// Runs the browser once: what it saw, and what it complained about.
fn look(browser: &Path, name: &str, dark: bool, pages: &[(String, String)]) -> (Vec<Seen>, Vec<String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let folder = Folder(folder);
    let path = |file: &str| folder.0.join(file);
    fs::write(path("wrapper.html"), wrapper(pages)).expect("a file");
    let output = |file: &str| Stdio::from(File::create(path(file)).expect("a file"));
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions"])
        .args(["--disable-background-networking", "--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
        .arg(format!("--user-data-dir={}", path("profile").display()))
        .arg(format!("file://{}", path("wrapper.html").display()))
        .stdout(output("dom"))
        .stderr(output("log"))
        .spawn()
        .expect("the browser starts");
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the browser does not end: {}", fs::read_to_string(path("log")).unwrap_or_default());
        }
        thread::sleep(Duration::from_millis(20));
    }
    let read = |file: &str| String::from_utf8_lossy(&fs::read(path(file)).expect("a file")).into_owned();
    let (dom, log) = (read("dom"), read("log"));
    let lines = dom.lines().skip_while(|line| *line != "BEGIN").skip(1).take_while(|line| *line != "END");
    let seen = lines.map(|line| {
        let parts: Vec<&str> = line.split('|').collect();
        let number = |index: usize| parts[index].parse().expect("a number");
        Seen {
            name: parts[0].to_owned(),
            width: number(1),
            scroll_width: number(2),
            background: parts[3].to_owned(),
            loaded: number(4),
        }
    });
    let seen: Vec<Seen> = seen.collect();
    assert_eq!(seen.len(), pages.len() * WIDTHS.len(), "the browser saw every page; it said:\n{log}");
    (seen, log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect())
}

#[test]
fn browsers_show_pages_without_complaint_in_light_and_dark_narrow_and_wide() {
    let Some(browser) = browser() else {
        println!("skipped: none of {BROWSERS:?} is on PATH");
        return;
    };
    let pages = samples::all().into_iter().map(|(name, audit)| {
        (
            name.to_owned(),
            page(&audit, "a_summary_with_a_name_that_is_far_too_long_for_telephones", None).expect("a page"),
        )
    });
    let pages: Vec<(String, String)> = pages.collect();
    let (light, complaints) = look(&browser, "light", false, &pages);
    assert!(complaints.is_empty(), "{complaints:?}");
    let (dark, complaints) = look(&browser, "dark", true, &pages);
    assert!(complaints.is_empty(), "{complaints:?}");
    for (seen, dark) in light.iter().zip(&dark) {
        for seen in [seen, dark] {
            assert!(WIDTHS.contains(&seen.width), "{seen:?}");
            assert!(seen.scroll_width <= seen.width, "wider than its window: {seen:?}");
            assert_eq!(seen.loaded, 0, "asked for something: {seen:?}");
        }
        assert_ne!(seen.background, dark.background, "{}", seen.name);
    }
}

#[test]
fn the_test_above_would_see_a_bad_page() {
    let Some(browser) = browser() else {
        println!("skipped: none of {BROWSERS:?} is on PATH");
        return;
    };
    let bad = "<body style=\"margin: 0\"><div style=\"width: 2000px\">wide</div><script>console.error('bad')</script>\
               <img src=\"data:image/gif;base64,R0lGODlhAQABAAAAACw=\">";
    let (seen, complaints) = look(&browser, "bad", false, &[("bad".to_owned(), bad.to_owned())]);
    assert!(seen.iter().all(|seen| seen.scroll_width == 2000), "{seen:?}");
    assert!(!complaints.is_empty());
}

#[test]
fn pages_name_nothing_outside_of_themselves() {
    for (name, audit) in samples::all() {
        let html = page(&audit, "logs", None).expect("a page");
        for outside in ["src=", "href=\"http", "href=\"/", "url(", "@import", "<script", "<link", "<iframe"] {
            assert!(!html.contains(outside), "{name}: {outside}");
        }
        // The name of the drawing language, which nothing loads.
        let rest = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains("http:") && !rest.contains("https:"), "{name}");
    }
}
