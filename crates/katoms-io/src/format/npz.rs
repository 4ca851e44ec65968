//! NPZ: a ZIP archive of NPY files. SciPy keeps a sparse matrix in one.

use std::path::Path;

use katoms::linalg::kernels::Real;
use katoms::operator::Layout;

use super::triplets::Triplets;
use super::{npy, zip};
use crate::allocation::{Budget, MaxUnpacked, gathered};
use crate::error::{Error, bad, bad_at};
use crate::on_numbers;
use crate::source::{Array, Source, Sparse};

/// The arrays of an archive, and the sparse matrix where four of them are one. Arrays of words and of Python objects
/// are left out.
///
/// # Errors
/// When the archive is cut off or damaged, or one of its arrays is.
pub fn read_bytes(path: &Path, bytes: &[u8], limit: MaxUnpacked) -> Result<Source, Error> {
    let members = zip::members(bytes);
    let members =
        members.ok_or_else(|| bad(path, "the archive ends too early or is damaged; copy or write it again"))?;
    let (mut arrays, mut format) = (Vec::new(), None);
    let (mut stored, mut unpacked) = (bytes.len() as u64, Budget::new(limit));
    for (place, member) in members.iter().enumerate() {
        let bytes = member
            .read(&mut stored, &mut unpacked)
            .map_err(|problem| bad_at(path, format!(", member {} of the archive", place + 1), problem))?;
        let Some(name) = member.name.strip_suffix(".npy") else { continue };
        if name == "format" {
            format = npy::read_word(&bytes);
        }
        if let Some(array) = npy::read_member(path, name, &bytes, limit)? {
            arrays.push((name.to_string(), array));
        }
    }
    let sparse = sparse_of(path, &mut arrays, format.as_deref(), limit)?;
    if arrays.is_empty() && sparse.is_none() {
        return Err(bad(path, "the archive holds no arrays of numbers: write it with numpy.savez(\"FILE\", X=…, y=…)"));
    }
    Ok(Source::Arrays { arrays, sparse })
}

/// Takes the arrays of a sparse matrix of SciPy, where they are there.
fn sparse_of(
    path: &Path,
    arrays: &mut Vec<(String, Array)>,
    format: Option<&str>,
    limit: MaxUnpacked,
) -> Result<Option<Sparse>, Error> {
    let names = match format {
        Some("coo") => ["data", "row", "col", "shape"],
        _ => ["data", "indices", "indptr", "shape"],
    };
    if let Some(other @ ("bsr" | "dia" | "lil" | "dok")) = format {
        let advice = "save it with scipy.sparse.save_npz(\"FILE\", matrix.tocsr())";
        return Err(bad(path, format!("the sparse matrix is kept as {other}; csr, csc and coo are read: {advice}")));
    }
    if !names.iter().all(|name| arrays.iter().any(|(other, _)| other == name)) {
        return Ok(None);
    }
    let mut take = |name: &str| -> Result<Vec<f64>, Error> {
        let place = arrays.iter().position(|(other, _)| other == name);
        let (_, array) = arrays.remove(place.ok_or_else(|| bad(path, format!("there is no array {name}")))?);
        on_numbers!(&array.numbers, numbers => gathered(numbers.iter().map(|v| Real::to_f64(*v))))
            .map_err(|e| bad(path, e))
    };
    let [data, minor, major, shape] = names.map(&mut take);
    let parts = Parts { path, names, limit, data: data?, minor: minor?, major: major?, shape: shape? };
    arrays.retain(|(name, _)| name != "_is_array");
    match format {
        Some("coo") => parts.coordinates().map(Some),
        Some("csc") => parts.compressed(Layout::ColumnMajor).map(Some),
        _ => parts.compressed(Layout::RowMajor).map(Some),
    }
}

/// The four arrays of a sparse matrix.
struct Parts<'a> {
    path: &'a Path,
    names: [&'static str; 4],
    limit: MaxUnpacked,
    data: Vec<f64>,
    minor: Vec<f64>,
    major: Vec<f64>,
    shape: Vec<f64>,
}

impl Parts<'_> {
    fn coordinates(&self) -> Result<Sparse, Error> {
        let (rows, columns) = self.sides()?;
        if self.minor.len() != self.data.len() || self.major.len() != self.data.len() {
            return Err(bad(self.path, "the arrays data, row and col of the sparse matrix differ in length"));
        }
        let mut triplets = self.room()?;
        for (entry, &value) in self.data.iter().enumerate() {
            let row = self.index(self.names[1], self.minor[entry], rows)?;
            let column = self.index(self.names[2], self.major[entry], columns)?;
            triplets.push(row, column, value).map_err(|problem| bad(self.path, problem))?;
        }
        self.finished(triplets, rows, columns)
    }

    fn compressed(&self, layout: Layout) -> Result<Sparse, Error> {
        let by_rows = layout == Layout::RowMajor;
        let (rows, columns) = self.sides()?;
        let (slices, length) = if by_rows { (rows, columns) } else { (columns, rows) };
        let starts: Vec<usize> = self
            .major
            .iter()
            .map(|&s| self.index("indptr", s, self.data.len() + 1).map(|s| s as usize))
            .collect::<Result<_, _>>()?;
        let ends_well = starts.first() == Some(&0) && starts.last() == Some(&self.data.len());
        if starts.len() != slices + 1 || !ends_well || !starts.is_sorted() || self.minor.len() != self.data.len() {
            let problem = "the arrays data, indices and indptr do not belong together: indptr rises from 0 to the length \
                           of data and indices, and has one place more than there are rows (csr) or columns (csc)";
            return Err(bad(self.path, problem));
        }
        let mut triplets = self.room()?;
        for (slice, ends) in starts.windows(2).enumerate() {
            let slice = slice as u32;
            for entry in ends[0]..ends[1] {
                let other = self.index("indices", self.minor[entry], length)?;
                let (row, column) = if by_rows { (slice, other) } else { (other, slice) };
                triplets.push(row, column, self.data[entry]).map_err(|problem| bad(self.path, problem))?;
            }
        }
        self.finished(triplets, rows, columns)
    }

    fn sides(&self) -> Result<(usize, usize), Error> {
        match self.shape[..] {
            [rows, columns] => {
                let side = |v| self.index("shape", v, u32::MAX as usize).map(|v| v as usize);
                Ok((side(rows)?, side(columns)?))
            }
            _ => Err(bad_at(
                self.path,
                ", array shape".into(),
                "a sparse matrix has two sides: its shape is two numbers",
            )),
        }
    }

    /// A whole number below `limit`.
    fn index(&self, name: &str, value: f64, limit: usize) -> Result<u32, Error> {
        let is_index = value >= 0.0 && value < limit as f64 && value <= f64::from(u32::MAX) && value.fract() == 0.0;
        let wrong = || {
            bad_at(
                self.path,
                format!(", array {name}"),
                format!("{value} is not a whole number from 0 to below {limit}"),
            )
        };
        is_index.then_some(value as u32).ok_or_else(wrong)
    }

    fn room(&self) -> Result<Triplets, Error> {
        Triplets::with_room(self.data.len()).map_err(|problem| bad(self.path, problem))
    }

    fn finished(&self, triplets: Triplets, rows: usize, columns: usize) -> Result<Sparse, Error> {
        triplets.into_sparse(rows, columns, self.limit).map_err(|problem| bad(self.path, problem))
    }
}
