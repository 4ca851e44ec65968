//! The side of a worker: files that it opens by itself and holds, until nobody asks any more.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use anyhow::{Result, bail};
use katoms::Error;
use katoms::operator::{AnyDesign, Blocks, Csc, FirstRead, Storage, Worker};
use katoms_io::{Array, MaxUnpacked, ReadOptions, Source, Sparse, on_numbers};

use super::frames::{self, Asked, Opened, Shape};

/// Blocks from number `first` on.
struct Held {
    first: usize,
    matrices: Vec<Matrix>,
}

/// The numbers of a file.
pub enum Matrix {
    Dense(Array),
    Sparse(Sparse),
}

/// Opens files, and answers for them through standard input and output.
pub fn serve(first: usize, files: &[PathBuf], max_unpacked: MaxUnpacked) -> Result<()> {
    // What is sent to all processes of a job is for the one that asks: it ends this one.
    let _ = ctrlc::set_handler(|| {});
    let requests = requests();
    let mut out = io::stdout().lock();
    let opened: Result<Vec<Matrix>> = files.iter().map(|file| Matrix::open(file, max_unpacked)).collect();
    let blocks = match &opened {
        Ok(matrices) => Ok(matrices.iter().map(Matrix::shape).collect()),
        Err(problem) => Err(format!("{problem:#}")),
    };
    let opened_all = Opened { katoms: env!("CARGO_PKG_VERSION").into(), blocks };
    frames::send(&mut out, &serde_json::to_vec(&opened_all)?)?;
    out.flush()?;
    let Ok(matrices) = opened else { return Ok(()) };
    let held = Held { first, matrices };
    let mut worker = Worker::new(&held);
    for Asked { messages, tasks } in requests {
        for reply in worker.reply(&messages, &tasks) {
            frames::send(&mut out, &reply)?;
        }
        out.flush()?;
    }
    Ok(())
}

/// What is asked. When nobody asks any more, this process ends, whatever it is at.
fn requests() -> mpsc::Receiver<Asked> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut from = io::stdin().lock();
        while let Ok(Some(asked)) = Asked::receive(&mut from) {
            if sender.send(asked).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    receiver
}

impl Blocks for Held {
    fn design(&self, block: usize, first: Option<&FirstRead>) -> Result<AnyDesign<'_>, Error> {
        let matrix = block.checked_sub(self.first).and_then(|at| self.matrices.get(at));
        match matrix.ok_or_else(|| Error::Workers { message: format!("block {block} is not here") })? {
            Matrix::Dense(Array { numbers, rows, columns, layout, .. }) => {
                on_numbers!(numbers, values => Storage::design(values, (*rows, *columns), *layout, first))
            }
            Matrix::Sparse(s) => Ok(Csc::new(s.rows, s.columns, &s.starts[..], &s.indices[..], &s.values[..])?.into()),
        }
    }
}

impl Matrix {
    pub fn open(file: &Path, max_unpacked: MaxUnpacked) -> Result<Self> {
        let source = katoms_io::read(file, &ReadOptions { max_unpacked, ..ReadOptions::default() })?;
        Self::of(source, file)
    }

    fn of(source: Source, file: &Path) -> Result<Self> {
        let path = file.display();
        let found = match source {
            Source::Array(array) => return Ok(Self::Dense(array)),
            Source::Sparse(sparse) if sparse.labels.is_none() => return Ok(Self::Sparse(sparse)),
            Source::Arrays { sparse: Some(sparse), .. } => return Ok(Self::Sparse(sparse)),
            Source::Arrays { mut arrays, sparse: None } => {
                let is_matrix = |(_, array): &(String, Array)| !array.is_vector;
                let only =
                    arrays.iter().position(is_matrix).filter(|_| arrays.iter().filter(|a| is_matrix(a)).count() == 1);
                match arrays.iter().position(|(name, _)| name == "X").or(only) {
                    Some(place) => return Ok(Self::Dense(arrays.swap_remove(place).1)),
                    None => {
                        bail!("{path} has no array X and not one matrix alone; name the block X, or write it as .npy")
                    }
                }
            }
            Source::Sparse(_) => "svmlight, with a target of its own",
            Source::Table(_) => "a table",
            Source::Picture(_) => "a picture",
            Source::Genotypes(_) => "genotypes of PLINK",
        };
        bail!(
            "{path} is {found}, and workers hold matrices of numbers alone; write it as .npy, or as .npz where it is sparse \
             (in Python numpy.save, scipy.sparse.save_npz), or fit one file without --workers"
        )
    }

    pub fn shape(&self) -> Shape {
        match self {
            Self::Dense(array) => Shape { rows: array.rows, columns: array.columns },
            Self::Sparse(sparse) => Shape { rows: sparse.rows, columns: sparse.columns },
        }
    }

    /// A copy of a column.
    pub fn column(&self, j: usize) -> Vec<f64> {
        match self {
            Self::Dense(array) => array.column(j),
            Self::Sparse(sparse) => {
                let (mut values, own) = (vec![0.0; sparse.rows], sparse.starts[j]..sparse.starts[j + 1]);
                own.for_each(|at| values[sparse.indices[at] as usize] += sparse.values[at]);
                values
            }
        }
    }
}
