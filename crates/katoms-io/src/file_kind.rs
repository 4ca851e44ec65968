//! What kind of file a name and the first bytes speak of.

use std::path::Path;

use crate::decompress::Compression;
use crate::format::{matrix_market, npy_header, picture, plink, svmlight};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Npy,
    Npz,
    MatrixMarket,
    Svmlight,
    Png,
    Jpeg,
    Parquet,
    Arrow,
    Plink,
}

const ALL: [Kind; 10] = {
    use Kind::*;
    [Text, Npy, Npz, MatrixMarket, Svmlight, Png, Jpeg, Parquet, Arrow, Plink]
};

impl Kind {
    /// How people call it, and the extensions that it has, the usual one first.
    fn names(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Text => ("a text table", &["csv", "tsv"]),
            Self::Npy => ("an NPY file", &["npy"]),
            Self::Npz => ("an NPZ (ZIP) archive", &["npz"]),
            Self::MatrixMarket => ("a MatrixMarket file", &["mtx", "mm"]),
            Self::Svmlight => ("an svmlight file", &["svm", "svmlight", "libsvm", "svml"]),
            Self::Png => ("a PNG picture", &["png"]),
            Self::Jpeg => ("a JPEG picture", &["jpg", "jpeg"]),
            Self::Parquet => ("a Parquet file", &["parquet", "pq"]),
            Self::Arrow => ("an Arrow file", &["arrow", "feather", "ipc"]),
            Self::Plink => ("genotypes of PLINK", &["bed"]),
        }
    }

    fn of_extension(extension: &str) -> Option<Self> {
        ALL.into_iter().find(|kind| kind.names().1.contains(&extension))
    }

    /// What the first bytes say; text tables and svmlight say nothing.
    pub(crate) fn of_magic(start: &[u8]) -> Option<Self> {
        let is_matrix = start.get(..matrix_market::MAGIC.len());
        let known: [(&[u8], Self); 9] = [
            (npy_header::MAGIC, Self::Npy),
            (b"PK\x03\x04", Self::Npz),
            (b"PK\x05\x06", Self::Npz),
            (picture::PNG_MAGIC, Self::Png),
            (picture::JPEG_MAGIC, Self::Jpeg),
            (b"PAR1", Self::Parquet),
            (plink::MAGIC, Self::Plink),
            (b"ARROW1", Self::Arrow),
            // the first message of a stream of Arrow
            (b"\xff\xff\xff\xff", Self::Arrow),
        ];
        if is_matrix.is_some_and(|word| word.eq_ignore_ascii_case(matrix_market::MAGIC)) {
            return Some(Self::MatrixMarket);
        }
        known.into_iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, kind)| kind)
    }

    /// What a file is, from its name and its first bytes.
    ///
    pub(crate) fn new(by_name: Option<Self>, start: &[u8]) -> Result<Self, String> {
        let by_magic = Self::of_magic(start);
        match (by_name, by_magic) {
            (Some(name), Some(magic)) if name != magic => Err(format!(
                "the name says {}, but the bytes are those of {}: rename it to end in .{}",
                name.names().0,
                magic.names().0,
                magic.names().1[0]
            )),
            (Some(name @ (Self::Text | Self::Svmlight)), None) => Ok(name),
            (Some(name), None) if start.is_empty() => {
                Err(format!("the file is empty; its name says {}", name.names().0))
            }
            (Some(name), None) => Err(format!(
                "the name says {}, but the bytes do not start like one: it is damaged or of another kind",
                name.names().0
            )),
            (_, Some(magic)) => Ok(magic),
            (None, None) if svmlight::is_likely(start) => Ok(Self::Svmlight),
            (None, None) => Ok(Self::Text),
        }
    }
}

/// What the extensions of a name say: `x.csv.gz`.
pub(crate) fn of_name(path: &Path) -> (Option<Compression>, Option<Kind>) {
    let extension =
        |path: &Path| path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    match Compression::of_extension(&extension(path)) {
        None => (None, Kind::of_extension(&extension(path))),
        compression => (compression, Kind::of_extension(&extension(&path.with_extension("")))),
    }
}
