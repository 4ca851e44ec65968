//! Files that will be written, looked at before the work: what cannot be written should not cost an hour.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

pub fn check(inputs: &[Option<&Path>], outputs: &[Option<&Path>]) -> Result<()> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for output in outputs.iter().flatten() {
        if *output == Path::new("-") {
            bail!("`-` is no file to write to; --json prints on standard output");
        }
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            bail!("{}: there is no folder {}; create it first", output.display(), folder.display());
        }
        let place = same_place(output);
        if inputs.iter().flatten().any(|input| same_place(input) == place) {
            bail!("{} is read, and would be overwritten; choose another name to write to", output.display());
        }
        if seen.contains(&place) {
            bail!("{} would be written twice; choose different names", output.display());
        }
        seen.push(place);
    }
    Ok(())
}

pub fn check_ending(output: Option<&Path>, endings: &[&str]) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    let ending = output.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    if endings.contains(&ending.as_str()) {
        return Ok(());
    }
    let known: Vec<String> = endings.iter().map(|e| format!(".{e}")).collect();
    bail!("{}: choose a name that ends in {}", output.display(), known.join(" or "))
}

fn same_place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = folder.canonicalize().map(|folder| folder.join(path.file_name().unwrap_or_default()));
    path.canonicalize().or(beside).unwrap_or_else(|_| path.into())
}
