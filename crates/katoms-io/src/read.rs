//! Finds out what a file holds.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::allocation::{Budget, Limited, OutOfMemory, reserve};
use crate::decompress::Compression;
use crate::error::{Error, bad, unreadable};
use crate::file_kind::{self, Kind};
use crate::format::{arrow, csv, matrix_market, npy, npz, parquet, picture, plink, svmlight};
use crate::other_formats;
use crate::source::{ReadOptions, Source};

/// How much of a file is looked at to find out what it is.
const LOOKED_AT: u64 = 4096;

/// Reads a file. What it is follows from the extension of its name (`.gz` and `.zst` aside) and from its first bytes:
/// NPY, NPZ, MatrixMarket, svmlight, PNG, JPEG, Parquet, Arrow, PLINK (also by what the names of its three files begin
/// with), else a text table. `-` is a text table from standard input. Large NPY and .bed files are mapped into memory, not
/// read: leave them alone until the work is done.
///
/// # Errors
/// When there is no such file, it cannot be read, its name and its bytes contradict each other, or its content is
/// wrong; the error says where and what would be right, of a table for everything that is most likely not meant.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Source, Error> {
    match read_with_problems(path, options)? {
        Source::Table(table) if !table.problems.is_empty() => {
            Err(Error::Problems { path: path.into(), problems: table.problems })
        }
        source => Ok(source),
    }
}

/// The same, but for what is most likely not meant in a table: [`Table::problems`](crate::Table::problems) has that.
/// [`Dataset`](crate::Dataset) refuses such columns where they are used.
///
/// # Errors
/// As [`read`], but for those.
pub fn read_with_problems(path: &Path, options: &ReadOptions) -> Result<Source, Error> {
    read_mapping_above(path, options, npy::MAPPED_ABOVE)
}

/// The files that [`read`] opens for this one: PLINK has three.
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    plink::bed_of(path).map_or_else(|| vec![path.into()], |bed| plink::files_of(&bed).into())
}

/// The same, with the length above which NPY files are mapped.
pub(crate) fn read_mapping_above(path: &Path, options: &ReadOptions, above: u64) -> Result<Source, Error> {
    if path.as_os_str() == "-" {
        let (bytes, start) = peeked(path, Box::new(io::stdin().lock()))?;
        let mut text: Box<dyn Read> = match Compression::of_bytes(&start) {
            Some(packed) => unpacked(packed, bytes, options),
            None => bytes,
        };
        return csv::read_table(path, &mut *text, options).map(Source::Table);
    }
    if let Some(bed) = plink::bed_of(path) {
        return plink::read(&bed, above).map(Source::Genotypes);
    }
    let file = opened(path)?;
    let length = file.metadata().map_or(0, |file| file.len());
    let mapped = (length > above).then_some(&file);
    sorted(path, Content { bytes: Box::new(&file), length }, mapped, options)
}

/// What [`read`] gives for a file of this name and these bytes.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Source, Error> {
    sorted(path, Content { bytes: Box::new(bytes), length: bytes.len() as u64 }, None, options)
}

/// What a file holds, by its name and its first bytes; an NPY file is mapped where it is given.
fn sorted(path: &Path, content: Content<'_>, mapped: Option<&File>, options: &ReadOptions) -> Result<Source, Error> {
    let length = content.length;
    let (bytes, start) = peeked(path, content.bytes)?;
    let (packed_by_name, kind_by_name) = file_kind::of_name(path);
    let packed = Compression::of_bytes(&start);
    match (packed_by_name, packed) {
        (Some(name), None) => {
            Err(bad(path, format!("the name says {0}, but the bytes are not {0} data: rename it", name.name())))
        }
        (_, Some(packed)) => {
            let (bytes, start) = peeked(path, unpacked(packed, bytes, options))?;
            let kind = kind_of(path, kind_by_name, &start)?;
            decoded(path, kind, Content { bytes, length: 0 }, options)
        }
        (None, None) => {
            let kind = kind_of(path, kind_by_name, &start)?;
            if kind == Kind::Npy
                && let Some(file) = mapped
                && let Some(array) = npy::map(path, file, &start, options.max_unpacked)?
            {
                return Ok(Source::Array(array));
            }
            decoded(path, kind, Content { bytes, length }, options)
        }
    }
}

/// Compressed bytes as they were, up to the limit.
fn unpacked<'a>(packed: Compression, bytes: Box<dyn Read + 'a>, options: &ReadOptions) -> Box<dyn Read + 'a> {
    let inner = packed.decoder(Box::new(BufReader::new(bytes)));
    Box::new(Limited { inner, budget: Budget::new(options.max_unpacked) })
}

/// What a file is, if it is one that is read.
fn kind_of(path: &Path, by_name: Option<Kind>, start: &[u8]) -> Result<Kind, Error> {
    match other_formats::refusal(path, start) {
        Some(problem) => Err(bad(path, problem)),
        None => Kind::new(by_name, start).map_err(|problem| bad(path, problem)),
    }
}

/// What is still to be read.
struct Content<'a> {
    bytes: Box<dyn Read + 'a>,
    /// How many bytes there are; 0 where nobody knows.
    length: u64,
}

impl Content<'_> {
    fn all(mut self, path: &Path) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        // a reader finds the end where there is room for a byte more
        let expected = usize::try_from(self.length.saturating_add(1)).unwrap_or(usize::MAX);
        reserve(&mut all, expected).map_err(|problem: OutOfMemory| bad(path, problem))?;
        self.bytes.read_to_end(&mut all).map_err(|error| unreadable(path, error))?;
        Ok(all)
    }
}

/// What bytes of a known kind hold.
fn decoded(path: &Path, kind: Kind, mut content: Content<'_>, options: &ReadOptions) -> Result<Source, Error> {
    let (all, limit) = (|content: Content<'_>| content.all(path), options.max_unpacked);
    match kind {
        Kind::Text => csv::read_table(path, &mut *content.bytes, options).map(Source::Table),
        Kind::Npy => npy::read_bytes(path, &all(content)?, limit).map(Source::Array),
        Kind::Npz => npz::read_bytes(path, &all(content)?, limit),
        Kind::MatrixMarket => matrix_market::read_bytes(path, &all(content)?, limit),
        Kind::Svmlight => svmlight::read_bytes(path, &all(content)?, limit).map(Source::Sparse),
        Kind::Png => picture::read_png(path, &all(content)?, limit).map(Source::Picture),
        Kind::Jpeg => picture::read_jpeg(path, &all(content)?, limit).map(Source::Picture),
        Kind::Parquet => parquet::read_parquet(path, &all(content)?, limit).map(Source::Table),
        Kind::Arrow => arrow::read_arrow(path, &all(content)?, limit).map(Source::Table),
        // Only what is compressed, or not called .bed, comes here.
        Kind::Plink => Err(bad(
            path,
            "genotypes of PLINK: unpack it where it is compressed, name it NAME.bed, and put NAME.bim and NAME.fam beside it",
        )),
    }
}

/// The bytes of a reader, all of them, and a copy of the first.
fn peeked<'a>(path: &Path, mut bytes: Box<dyn Read + 'a>) -> Result<(Box<dyn Read + 'a>, Vec<u8>), Error> {
    let mut start = Vec::new();
    bytes.by_ref().take(LOOKED_AT).read_to_end(&mut start).map_err(|error| unreadable(path, error))?;
    Ok((Box::new(Cursor::new(start.clone()).chain(bytes)), start))
}

fn opened(path: &Path) -> Result<File, Error> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(bad(path, "this is a folder: name a file in it")),
        Ok(_) => File::open(path).map_err(|error| unreadable(path, error)),
        Err(error) => Err(unreadable(path, error)),
    }
}
