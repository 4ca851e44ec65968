//! Files of other programs that are recognised and not read: each is refused with the line that converts it.

use std::path::Path;

/// A kind of file that is not read.
struct Other {
    name: &'static str,
    extensions: &'static [&'static str],
    /// Whether a file starts like one; not asked where only the extension tells.
    starts: fn(&[u8]) -> bool,
    /// Lines of which each converts it; `{from}` is the file, `{to}` its name without the extension.
    lines: &'static [&'static str],
}

const PICTURE: &[&str] =
    &[r#"python3 -c "from PIL import Image; Image.open('{from}').save('{to}.png')""#, "magick {from} {to}.png"];
const SHEET: &[&str] = &[
    r#"python3 -c "import pandas; pandas.read_excel('{from}').to_csv('{to}.csv', index=False)""#,
    "save it as CSV in the program that it comes from",
];
const HDF5: &[&str] = &[
    r#"python3 -c "import h5py, numpy; f = h5py.File('{from}'); numpy.savez('{to}.npz', **{k: numpy.array(v) for k, v in f.items() if isinstance(v, h5py.Dataset)})""#,
];
// MATLAB keeps the columns of a matrix as the rows of a dataset.
const MATLAB_73: &[&str] = &[
    r#"python3 -c "import h5py, numpy; f = h5py.File('{from}'); numpy.savez('{to}.npz', **{k: numpy.array(v).T for k, v in f.items() if isinstance(v, h5py.Dataset)})""#,
];
const MATLAB: &[&str] = &[
    r#"python3 -c "import numpy, scipy.io; m = scipy.io.loadmat('{from}'); numpy.savez('{to}.npz', **{k: v for k, v in m.items() if k[0] != '_'})""#,
];

/// The first that fits counts.
const KNOWN: [Other; 18] = [
    other("a BMP picture", &["bmp", "dib"], is_bmp, PICTURE),
    other("a WebP picture", &["webp"], |b| b.starts_with(b"RIFF") && b.get(8..12) == Some(b"WEBP"), PICTURE),
    other(
        "a TIFF picture",
        &["tif", "tiff"],
        |b| [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|magic| b.starts_with(*magic)),
        PICTURE,
    ),
    other("a GIF picture", &["gif"], |b| b.starts_with(b"GIF87a") || b.starts_with(b"GIF89a"), PICTURE),
    other("a MATLAB 7.3 file", &[], |b| b.starts_with(b"MATLAB 7.3 MAT-file"), MATLAB_73),
    // The fourth version has no mark of its own: its extension tells.
    other("a MATLAB file", &["mat"], |b| b.starts_with(b"MATLAB 5.0 MAT-file"), MATLAB),
    other("an HDF5 file", &["h5", "hdf5", "hdf"], |b| b.starts_with(b"\x89HDF\r\n\x1a\n"), HDF5),
    other("an Excel workbook", &["xls"], |b| b.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), SHEET),
    other("an Excel workbook", &["xlsx", "xlsm", "xlsb"], |b| first_member(b).is_some_and(is_of_office), SHEET),
    other("an OpenDocument spreadsheet", &["ods"], |b| first_member(b) == Some(b"mimetype"), SHEET),
    other(
        "a ZIP archive",
        &["zip"],
        |b| first_member(b).is_some_and(|name| !name.ends_with(b".npy")),
        &["unzip {from}"],
    ),
    other(
        "an R data set",
        &["rds"],
        |b| b.starts_with(b"X\n\0\0\0"),
        &[r#"Rscript -e "write.csv(readRDS('{from}'), '{to}.csv', row.names = FALSE)""#],
    ),
    other(
        "an R workspace",
        &["rdata", "rda"],
        |b| b.starts_with(b"RDX2\n") || b.starts_with(b"RDX3\n"),
        &[r#"Rscript -e "write.csv(get(load('{from}')[1]), '{to}.csv', row.names = FALSE)""#],
    ),
    other(
        "an SPSS file",
        &["sav", "zsav"],
        |b| b.starts_with(b"$FL2") || b.starts_with(b"$FL3"),
        &[r#"python3 -c "import pandas; pandas.read_spss('{from}').to_csv('{to}.csv', index=False)""#],
    ),
    other(
        "a Stata file",
        &["dta"],
        |b| b.starts_with(b"<stata_dta>"),
        &[r#"python3 -c "import pandas; pandas.read_stata('{from}').to_csv('{to}.csv', index=False)""#],
    ),
    other(
        "a SAS file",
        &["sas7bdat"],
        |b| b.get(12..20) == Some(b"\xc2\xea\x81\x60\xb3\x14\x11\xcf"),
        &[r#"python3 -c "import pandas; pandas.read_sas('{from}').to_csv('{to}.csv', index=False)""#],
    ),
    other(
        "bzip2 data",
        &["bz2"],
        |b| b.starts_with(b"BZh") && b.get(4..10) == Some(b"1AY&SY"),
        &["bunzip2 --keep {from}"],
    ),
    other("xz data", &["xz"], |b| b.starts_with(b"\xfd7zXZ\0"), &["unxz --keep {from}"]),
];

const fn other(
    name: &'static str,
    extensions: &'static [&'static str],
    starts: fn(&[u8]) -> bool,
    lines: &'static [&'static str],
) -> Other {
    Other { name, extensions, starts, lines }
}

/// Why a file of this name and these first bytes is not read, and the line that converts it; `None` where it may be
/// one that is.
pub(crate) fn refusal(path: &Path, start: &[u8]) -> Option<String> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    // an archive of arrays may hold other files as well
    if extension == "npz" {
        return None;
    }
    if let Some(kind) = KNOWN.iter().find(|kind| (kind.starts)(start)) {
        return Some(format!("this is {}, which is not read; {}", kind.name, kind.advice(path)));
    }
    let kind = KNOWN.iter().find(|kind| kind.extensions.contains(&extension.as_str()))?;
    if looks_like_text(start) {
        let name = kind.name;
        return Some(format!(
            "the name says {name}, but the bytes are text: if it is a table, rename it to end in .csv"
        ));
    }
    Some(format!("the name says {}, which is not read; {}", kind.name, kind.advice(path)))
}

impl Other {
    /// What to type, with the names of the files unless they would have to be quoted.
    fn advice(&self, path: &Path) -> String {
        let name = path.to_string_lossy();
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c)) && !name.starts_with('-');
        let from = if is_plain { name.into_owned() } else { "FILE".into() };
        let to = Path::new(&from).with_extension("");
        let filled = |line: &&str| {
            let line = line.replace("{from}", &from).replace("{to}", &to.to_string_lossy());
            if cfg!(windows) { line.replacen("python3", "python", 1) } else { line }
        };
        let lines: Vec<String> = self.lines.iter().map(filled).collect();
        format!("convert it, and name the new file:\n  {}", lines.join("\nor\n  "))
    }
}

/// Text has no control characters but those that separate words and lines.
fn looks_like_text(start: &[u8]) -> bool {
    !start.is_empty() && start.iter().all(|&b| b >= b' ' || matches!(b, b'\t' | b'\r' | b'\n'))
}

/// Two letters are few: the size of the next header, which has only a few values, is looked at as well.
fn is_bmp(start: &[u8]) -> bool {
    start.starts_with(b"BM") && matches!(start.get(14..18), Some([12 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]))
}

/// The name of the first member of a ZIP archive.
fn first_member(start: &[u8]) -> Option<&[u8]> {
    if !start.starts_with(b"PK\x03\x04") {
        return None;
    }
    let length = u16::from_le_bytes(start.get(26..28)?.try_into().ok()?);
    start.get(30..30 + usize::from(length))
}

/// Whether a workbook of Excel starts with a member of this name.
fn is_of_office(name: &[u8]) -> bool {
    let first: [&[u8]; 4] = [b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/"];
    first.iter().any(|part| name.starts_with(part))
}
