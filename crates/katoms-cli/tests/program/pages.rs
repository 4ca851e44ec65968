//! What the written pages tell a newcomer to type works, and says what the pages say.

use std::path::Path;
use std::process::Command;

use crate::desk::{Desk, Said};
use crate::workers::cut;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

/// The lines of a page's blocks that begin with `katoms `, without the remark behind two spaces.
fn commands(page: &str) -> Vec<String> {
    let joined = page.replace(" \\\n  ", " ");
    let mut inside = false;
    let mut found = Vec::new();
    for line in joined.lines() {
        if line.starts_with("```") {
            inside = !inside && line == "```text";
        } else if inside && line.starts_with("katoms ") {
            let words = line.split("   ").next().unwrap_or_default();
            found.push(words.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    found
}

fn typed(desk: &Desk, command: &str) -> Said {
    let program = Path::new(env!("CARGO_BIN_EXE_katoms")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let output =
        Command::new("sh").args(["-c", command]).current_dir(desk.path("")).env("PATH", path).output().unwrap();
    Said::of(&output)
}

fn desk_with_examples() -> Desk {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("examples")).unwrap();
    for entry in std::fs::read_dir(Path::new(ROOT).join("examples")).unwrap() {
        let from = entry.unwrap().path();
        // The folder of notebooks holds no data.
        if from.is_file() {
            std::fs::copy(&from, desk.path("examples").join(from.file_name().unwrap())).unwrap();
        }
    }
    desk
}

#[test]
fn every_command_of_the_pages_succeeds() {
    let desk = desk_with_examples();
    // Data in several files, of which the pages speak.
    cut(&desk, 120, 600);
    std::fs::create_dir(desk.path("parts")).unwrap();
    for block in 0..3 {
        std::fs::rename(desk.path(&format!("columns{block}.npy")), desk.path(&format!("parts/{block}.npy"))).unwrap();
    }
    for (name, least) in [("README.md", 5), ("docs/program.md", 10)] {
        let found = commands(&page(name));
        assert!(found.len() >= least, "{name}: {found:?}");
        for command in found {
            let said = typed(&desk, &command);
            assert_eq!(said.code, Some(0), "{name}: {command}\n{}", said.err);
        }
    }
}

#[test]
fn the_readme_shows_what_the_program_says() {
    let desk = desk_with_examples();
    let readme = page("README.md");
    let shown = readme.split("```text\n").find(|block| block.starts_with("5 of 13 columns")).unwrap();
    let shown = shown.split("```").next().unwrap();
    let said = typed(&desk, "katoms fit examples/houses.csv --target price -k 5");
    for line in shown.lines() {
        assert!(said.err.contains(line), "`{line}` is not in\n{}", said.err);
    }
}
