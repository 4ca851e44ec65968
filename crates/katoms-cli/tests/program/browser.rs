//! Pages in a real browser, where there is one.

use std::path::{Path, PathBuf};
use std::process::Command;

use katoms_cli::report::{
    Classification, Coefficient, Coefficients, CrossValidation, Fact, HeldOutError, Probabilities, Report,
};

use crate::desk::{Desk, counted_passes, example};
use crate::samples;

/// A browser on the `PATH`. Without one, says that the test is skipped.
pub fn chromium() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let all = || std::env::split_paths(&folders).flat_map(|folder| names.map(|name| folder.join(name)));
    let found = all().find(|path| path.is_file());
    if found.is_none() {
        eprintln!("skipped: no chromium, chromium-browser or google-chrome on the PATH");
    }
    found
}

pub struct Opened {
    pub dom: String,
    /// Lines of the console: errors of scripts, and what the page's own policy forbids: any script, any request.
    pub console: Vec<String>,
}

pub fn dump_dom(browser: &Path, file: &Path) -> Opened {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(address(file))
        .output()
        .unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(dom.contains("</html>"), "the browser gave no page:\n{log}");
    Opened { dom, console: log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect() }
}

/// The address of a file, whatever its path holds.
fn address(file: &Path) -> String {
    let path = file.canonicalize().unwrap().display().to_string();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let letter = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    format!("file://{}", path.bytes().map(letter).collect::<String>())
}

impl Opened {
    pub fn text(&self, id: &str) -> String {
        let mark = format!("id=\"{id}\"");
        let (_, rest) = self.dom.split_once(&mark).unwrap_or_else(|| panic!("no element {id}"));
        let (_, rest) = rest.split_once('>').unwrap();
        let inside = rest.split("</").next().unwrap();
        assert!(!inside.contains('<'), "{id} holds more than text: {inside}");
        inside.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&")
    }

    pub fn count(&self, tag: &str) -> usize {
        let names = [">", " ", "\n"].map(|end| format!("<{tag}{end}"));
        names.iter().map(|name| self.dom.matches(name.as_str()).count()).sum()
    }

    /// Nothing was fetched, nothing ran but what the page itself holds, and nothing was complained about.
    pub fn assert_self_contained(&self) {
        assert_eq!(self.console, Vec::<String>::new());
        assert!(self.dom.contains("content=\"default-src 'none'; img-src data:;"), "no policy");
        assert_eq!(self.count("script"), 1, "only the data");
        assert_eq!(self.count("iframe") + self.count("object") + self.count("embed"), 0);
        for place in ["src=\"", "href=\"", "url("] {
            for target in self.dom.split(place).skip(1) {
                assert!(target.starts_with("data:") || target.starts_with('#'), "{place}{target:.60}");
            }
        }
    }
}

fn open(report: &Report) -> Option<Opened> {
    let browser = chromium()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, report.to_html()).unwrap();
    Some(dump_dom(&browser, &file))
}

/// Markup in every text that a user writes. Run, it would change the title.
const MARKUP: &str = "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">";

fn injected() -> Report {
    let coefficient = Coefficient {
        name: MARKUP.into(),
        group: Some(MARKUP.into()),
        rivals: vec![MARKUP.into()],
        value: 1.5,
        ..Coefficient::default()
    };
    let sizes = [(1, 3.0), (2, 2.0), (3, 2.5)].map(|(k, mean)| HeldOutError { k, mean, error: 0.75, rmse: None });
    Report {
        title: format!("{MARKUP} is a name"),
        answer: MARKUP.into(),
        command: MARKUP.into(),
        version: MARKUP.into(),
        warnings: vec![MARKUP.into()],
        question: vec![Fact::new(MARKUP, MARKUP), Fact::new("Target", MARKUP)],
        coefficients: Some(Coefficients { rows: vec![coefficient], ..Coefficients::default() }),
        cross_validation: Some(CrossValidation {
            measure: MARKUP.into(),
            folds: 5,
            sizes: sizes.into(),
            k_min: 2,
            k_1se: 2,
            chosen: Some(2),
            remark: MARKUP.into(),
            ..CrossValidation::default()
        }),
        classification: Some(Classification {
            target: MARKUP.into(),
            positive: MARKUP.into(),
            negative: MARKUP.into(),
            held_out: Some(Probabilities {
                labels: vec![true, false, true, false],
                probabilities: vec![0.9, 0.6, 0.6, 0.2],
                weights: vec![],
            }),
            fitted: Some(Probabilities {
                labels: vec![true, false, true, false],
                probabilities: vec![0.9, 0.4, 0.6, 0.2],
                weights: vec![],
            }),
        }),
        fingerprint: Some(MARKUP.into()),
        ..Report::default()
    }
}

/// What the other tests would see if a page did what it must not.
#[test]
fn a_browser_tells_of_errors_and_requests() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a page #1.html");
    let open = |body: &str| {
        // The head and the data of a page of ours.
        let html = samples::minimal().to_html().replace("</main>", &format!("{body}</main>"));
        std::fs::write(&file, html).unwrap();
        dump_dom(&browser, &file)
    };
    open("<img src='data:,'>").assert_self_contained();
    for wrong in ["<script>absent()</script>", "<img src='https://example.org/a.png'>", "<p style='color: url(a)'>"] {
        let page = open(wrong);
        assert!(std::panic::catch_unwind(|| page.assert_self_contained()).is_err(), "{wrong}");
    }
    for forbidden in ["<script>absent()</script>", "<img src='https://example.org/a.png'>"] {
        let console = open(forbidden).console;
        assert!(console.iter().any(|line| line.contains("Content Security Policy")), "{forbidden}: {console:?}");
    }
}

#[test]
fn a_browser_reads_the_numbers() {
    let Some(page) = open(&injected()) else { return };
    assert_eq!((page.text("auc").as_str(), page.text("auc-fitted").as_str()), ("0.8750", "1.0000"));
    assert_eq!((page.text("k-min").as_str(), page.text("k-1se").as_str()), ("2", "2"));
    assert_eq!((page.text("true-positives").as_str(), page.text("false-positives").as_str()), ("2", "1"));
    let data: serde_json::Value = serde_json::from_str(&page.text("katoms-data")).unwrap();
    assert_eq!(
        (&data["measured"]["held_out"]["auc"], &data["measured"]["fitted"]["auc"]),
        (&0.875.into(), &1.0.into())
    );
    assert_eq!(data["report"]["cross_validation"]["sizes"][1]["mean"], 2.0);
}

#[test]
fn markup_in_names_is_text() {
    let Some(page) = open(&injected()) else { return };
    page.assert_self_contained();
    assert_eq!(page.text("asked-target"), MARKUP);
    assert_eq!(page.text("command"), MARKUP);
    let title = page.dom.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
    assert!(title.ends_with("is a name"), "{title}");
    assert_eq!(page.count("img"), 0);
}

#[test]
fn pages_of_every_kind_open_without_complaint() {
    let all = [samples::regression(), samples::classification(), samples::completion(), samples::minimal()];
    for (report, charts) in all.iter().zip([9, 3, 2, 0]) {
        let Some(page) = open(report) else { return };
        page.assert_self_contained();
        // Each for a wide and a narrow screen.
        assert_eq!(page.count("svg"), 2 * charts, "{}", report.title);
        assert!(page.dom.contains(&format!("<h1>{}</h1>", report.title)));
    }
}

/// What the program itself writes, read back by a browser: the number on the page is the number in the JSON.
#[test]
fn the_programs_own_reports_open() {
    let Some(browser) = chromium() else { return };
    let desk = Desk::new();
    let classes = format!("fit {} --target outcome -k 2 --groups {}", example("patients.csv"), example("pathways.gmt"));
    let said = desk.succeeds(&format!("{classes} --report classes.html --json")).json();
    let opened = dump_dom(&browser, &desk.path("classes.html"));
    opened.assert_self_contained();
    let rounded = |value: &serde_json::Value| format!("{:.4}", value.as_f64().unwrap());
    assert_eq!(opened.text("auc"), rounded(&said["run"]["on_the_rows_of_the_fit"]["auc"]));
    let cv = format!("cv {} --target price -k 1..8 --report cv.html --json", example("houses.csv"));
    let said = desk.succeeds(&cv).json();
    let opened = dump_dom(&browser, &desk.path("cv.html"));
    opened.assert_self_contained();
    assert_eq!(opened.text("k-min"), said["cross_validation"]["k_min"].to_string());
    // rows held out first, and those of the fit beside them
    assert_eq!(opened.text("r-squared"), rounded(&said["run"]["on_rows_held_out"]["r_squared"]));
    assert_eq!(opened.text("r-squared-fitted"), rounded(&said["run"]["on_the_rows_of_the_fit"]["r_squared"]));
    // one count of passes
    let passes = counted_passes(&said["run"]["passes"]);
    assert!(opened.text("answer-cost").starts_with(&passes), "{}", opened.text("answer-cost"));
    let convergence = opened.dom.split("id=\"convergence\"").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(convergence.contains(&format!("{passes} over the data")), "{convergence}");
}
