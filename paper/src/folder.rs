//! The folder of a report: numbers and figures of each section, and one page about all of them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::draw::{draw, png};
use crate::page::{MARK, page};
use crate::{Experiment, Section};

/// Pixels for each unit of a figure: sharp in print.
const PIXELS: f32 = 2.0;

pub struct Folder {
    path: PathBuf,
    is_new: bool,
}

impl Folder {
    /// A folder that can take the report: what cannot be read or must not be overwritten should not cost the work.
    pub fn open(path: &Path) -> Result<Self> {
        if path.exists() && !path.is_dir() {
            bail!("{}: this is a file; name a folder with --out", path.display());
        }
        let folder = Self { path: path.into(), is_new: !path.exists() };
        let is_ours = |page: Vec<u8>| String::from_utf8_lossy(&page).contains(MARK);
        if std::fs::read(folder.report()).is_ok_and(|page| !is_ours(page)) {
            let report = folder.report();
            bail!("{}: this is no report of ours, and would be overwritten; name another folder", report.display());
        }
        folder.sections()?;
        std::fs::create_dir_all(path)
            .with_context(|| format!("{}: the folder cannot be created; name another with --out", path.display()))?;
        Ok(folder)
    }

    /// The page about all sections.
    pub fn report(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// Writes the section's numbers and figures, and the page with all sections in the folder.
    pub fn write(&self, section: &Section) -> Result<()> {
        for figure in &section.figures {
            let svg = draw(figure);
            let file = |ending: &str| self.path.join(format!("{}.{ending}", figure.name));
            katoms_io::save(&file("png"), &png(&svg, PIXELS)?)?;
            katoms_io::save(&file("svg"), svg.as_bytes())?;
        }
        katoms_io::save(&self.numbers(section.experiment), &serde_json::to_vec(section)?)?;
        Ok(katoms_io::save(&self.report(), page(&self.sections()?).as_bytes())?)
    }

    fn numbers(&self, experiment: Experiment) -> PathBuf {
        self.path.join(format!("{}.json", experiment.name()))
    }

    /// All sections in the folder, in the order of the paper.
    fn sections(&self) -> Result<Vec<Section>> {
        Experiment::ALL.into_iter().filter_map(|e| read_section(&self.numbers(e)).transpose()).collect()
    }
}

impl Drop for Folder {
    /// A new folder goes where nothing was written to it.
    fn drop(&mut self) {
        if self.is_new {
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// A section that was written before.
fn read_section(path: &Path) -> Result<Option<Section>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{}: cannot be read", path.display())),
    };
    let what = || format!("{}: not a section of this version; remove it, or name another folder", path.display());
    serde_json::from_slice(&bytes).map(Some).with_context(what)
}
