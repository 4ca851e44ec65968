//! What Python calls a matrix, as a design. Dense arrays of either order and the arrays of a sparse matrix are borrowed.

use std::sync::{Arc, Mutex, PoisonError};

use katoms::Error;
use katoms::operator::{
    AnyDesign, Csc, Device, Distributed, FirstRead, Genotypes, Grid, Layout, LinearOperator, MatrixFree, OnDevice,
    Storage, Workers, f16,
};
use katoms::space::SparseVec;
use katoms_cuda::{Cuda, Numbers, Stored, copied_numbers, copied_sparse};
use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::device::OnCard;
use crate::ended::Ended;
use crate::error::{invalid, raised};

/// A matrix as the Python side hands it over.
#[derive(FromPyObject)]
pub enum Matrix<'py> {
    /// An array in double precision, contiguous in either order; so are those below.
    Double(PyReadonlyArray2<'py, f64>),
    /// In single precision.
    Single(PyReadonlyArray2<'py, f32>),
    /// In half precision.
    Half(PyReadonlyArray2<'py, f16>),
    /// Of whole numbers from −128 to 127.
    Signed(PyReadonlyArray2<'py, i8>),
    /// Of whole numbers from 0 to 255.
    Unsigned(PyReadonlyArray2<'py, u8>),
    /// In the memory of a graphics card.
    Card(PyRef<'py, OnCard>),
    /// Compressed sparse columns.
    Columns(Columns<'py>),
    /// Genotypes of 2 bits; before functions, which any object could be.
    Genotypes(Packed<'py>),
    /// Functions in place of a matrix.
    Operator(Operator),
    /// Blocks that live with workers.
    Distributed(Remote),
}

/// SciPy's arrays of a CSC matrix: shape, `indptr`, `indices`, `data`.
#[derive(FromPyObject)]
pub struct Columns<'py>(
    (usize, usize),
    PyReadonlyArray1<'py, usize>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, f64>,
);

/// A shape, the codes of a .bed file, and what a missing one of each column counts as.
#[derive(FromPyObject)]
pub struct Packed<'py>((usize, usize), PyReadonlyArray1<'py, u8>, PyReadonlyArray1<'py, f64>);

/// A shape, a function for A·x and one for Aᵀ·r.
#[derive(FromPyObject)]
pub struct Operator((usize, usize), Py<PyAny>, Py<PyAny>);

/// The lengths of the ranges of rows and columns, and a function that carries messages to the workers.
#[derive(FromPyObject)]
pub struct Remote {
    row_lengths: Vec<usize>,
    column_lengths: Vec<usize>,
    ask: Py<PyAny>,
}

/// What a matrix holds, without Python: it can go to other threads.
#[derive(Clone)]
pub enum View<'a> {
    /// Double precision.
    Double(Laid<'a, f64>),
    /// Single precision.
    Single(Laid<'a, f32>),
    /// Half precision.
    Half(Laid<'a, f16>),
    /// Whole numbers with a sign.
    Signed(Laid<'a, i8>),
    /// Whole numbers without a sign.
    Unsigned(Laid<'a, u8>),
    /// In the memory of a graphics card.
    Card(Arc<dyn Device>),
    /// Compressed sparse columns: shape, starts, rows, values.
    Columns((usize, usize), &'a [usize], &'a [u32], &'a [f64]),
    /// Genotypes: shape, codes, what stands for missing ones.
    Genotypes((usize, usize), &'a [u8], &'a [f64]),
    /// Functions in place of a matrix.
    Free(MatrixFree),
    /// Blocks that live with workers.
    Distributed(Grid, Arc<dyn Workers>),
}

/// The numbers of a dense matrix, and how they lie.
#[derive(Clone, Copy)]
pub struct Laid<'a, T> {
    data: &'a [T],
    shape: (usize, usize),
    layout: Layout,
}

impl Matrix<'_> {
    /// What it holds. What the functions of an operator raise is kept in `ended`.
    pub fn view(&self, ended: &Ended) -> PyResult<View<'_>> {
        Ok(match self {
            Self::Double(array) => View::Double(laid(array)?),
            Self::Single(array) => View::Single(laid(array)?),
            Self::Half(array) => View::Half(laid(array)?),
            Self::Signed(array) => View::Signed(laid(array)?),
            Self::Unsigned(array) => View::Unsigned(laid(array)?),
            Self::Card(card) => View::Card(Arc::clone(&card.device)),
            Self::Columns(Columns(shape, starts, indices, values)) => {
                View::Columns(*shape, starts.as_slice()?, indices.as_slice()?, values.as_slice()?)
            }
            Self::Genotypes(Packed(shape, codes, missing)) => {
                View::Genotypes(*shape, codes.as_slice()?, missing.as_slice()?)
            }
            Self::Operator(Operator(shape, forward, backward)) => {
                let (forward, backward) = (product(forward, ended), product(backward, ended));
                View::Free(MatrixFree::new(*shape, forward, backward).map_err(raised)?)
            }
            Self::Distributed(Remote { row_lengths, column_lengths, ask }) => {
                let grid = Grid::new(row_lengths, column_lengths).map_err(raised)?;
                let ask = Python::attach(|py| ask.clone_ref(py));
                View::Distributed(
                    grid,
                    Arc::new(Carrier { ask, ended: ended.clone(), one_at_a_time: Mutex::default() }),
                )
            }
        })
    }
}

fn laid<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<Laid<'a, T>> {
    // A matrix of one row or column has both orders.
    let layout = if array.is_c_contiguous() { Layout::RowMajor } else { Layout::ColumnMajor };
    Ok(Laid { data: array.as_slice()?, shape: (array.shape()[0], array.shape()[1]), layout })
}

/// What is done with a dense matrix, whatever its numbers are, and with the others.
macro_rules! on_view {
    ($view:expr, $laid:ident => $dense:expr; $($other:pat => $what:expr),* $(,)?) => {
        match $view {
            View::Double($laid) => $dense,
            View::Single($laid) => $dense,
            View::Half($laid) => $dense,
            View::Signed($laid) => $dense,
            View::Unsigned($laid) => $dense,
            $($other => $what),*
        }
    };
}

impl<'a> View<'a> {
    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        on_view!(self, laid => laid.shape;
            Self::Card(device) => device.shape(),
            Self::Columns(shape, ..) | Self::Genotypes(shape, ..) => *shape,
            Self::Free(operator) => (operator.n_outputs(), operator.domain()),
            Self::Distributed(grid, _) => (grid.n_rows(), grid.n_columns()),
        )
    }

    /// How it is cut and who holds it, where it lives with workers.
    pub fn elsewhere(&self) -> Option<(&Grid, &Arc<dyn Workers>)> {
        match self {
            Self::Distributed(grid, workers) => Some((grid, workers)),
            _ => None,
        }
    }

    /// out + X·coefficients, added up column by column, as the program adds up what a model file says: the same bits,
    /// however the matrix is stored.
    pub fn predict(&self, coefficients: &SparseVec, out: &mut [f64]) -> Result<(), Error> {
        on_view!(self, laid => laid.predict(coefficients, out);
            Self::Card(device) => {
                // Products and sums are made here, so that they are those of any other matrix.
                let mut column = vec![0.0; out.len()];
                for (j, v) in coefficients.entries() {
                    device.apply(&[j], &[1.0], &mut column)?;
                    out.iter_mut().zip(&column).for_each(|(out, x)| *out += v * x);
                }
            },
            Self::Columns(_, starts, indices, values) => {
                for (j, v) in coefficients.entries() {
                    let column = starts.get(j).zip(starts.get(j + 1)).map_or(0..0, |(&start, &end)| start..end);
                    let stored = indices.get(column.clone()).into_iter().flatten();
                    for (&row, x) in stored.zip(values.get(column).into_iter().flatten()) {
                        out.get_mut(row as usize).into_iter().for_each(|out| *out += v * x);
                    }
                }
            },
            Self::Genotypes((rows, columns), codes, missing) => {
                let mut image = vec![0.0; out.len()];
                Genotypes::with_missing(*codes, *rows, *columns, missing)?.apply(coefficients, &mut image);
                out.iter_mut().zip(image).for_each(|(out, x)| *out += x);
            },
            Self::Free(operator) => {
                let mut image = vec![0.0; out.len()];
                operator.apply(coefficients, &mut image);
                out.iter_mut().zip(image).for_each(|(out, x)| *out += x);
            },
            Self::Distributed(grid, workers) => {
                let mut image = vec![0.0; out.len()];
                Distributed::new(grid.clone(), Arc::clone(workers), None)?.apply(coefficients, &mut image);
                out.iter_mut().zip(image).for_each(|(out, x)| *out += x);
            },
        );
        Ok(())
    }

    /// What some rows lack, column by column. A sparse matrix has zeros where nothing is stored.
    pub fn holes(&self, rows: &[usize]) -> Vec<Holes> {
        on_view!(self, laid => laid.holes(rows);
            Self::Columns((all, columns), starts, indices, values) => {
                let mut times = vec![0; *all];
                rows.iter().for_each(|&row| times.get_mut(row).into_iter().for_each(|t| *t += 1));
                let one = |j: usize| {
                    let mut holes = Holes::default();
                    let column = starts.get(j).zip(starts.get(j + 1)).map_or(0..0, |(&start, &end)| start..end);
                    let stored = indices.get(column.clone()).into_iter().flatten();
                    for (&row, &x) in stored.zip(values.get(column).into_iter().flatten()) {
                        let times = times.get(row as usize).copied().unwrap_or(0);
                        (0..times).for_each(|_| holes.see(row as usize, x));
                    }
                    holes.seen = rows.len() - holes.count;
                    holes
                };
                (0..*columns).map(one).collect()
            },
            Self::Card(_) | Self::Genotypes(..) | Self::Free(_) | Self::Distributed(..) => Vec::new(),
        )
    }

    /// A copy on a card; `None` of what is neither dense nor sparse.
    pub fn copied(&self, cuda: &Arc<Cuda>) -> Result<Option<OnCard>, Error> {
        on_view!(self, laid => laid.copied(cuda).map(Some);
            Self::Columns((rows, columns), starts, indices, values) => {
                let device = copied_sparse(cuda, &Csc::new(*rows, *columns, *starts, *indices, *values)?)?;
                Ok(Some(OnCard { device, ordinal: cuda.ordinal(), numbers: Numbers::F64 }))
            },
            _ => Ok(None),
        )
    }

    /// The design. Reads all of it, to find what is not finite and for what a fit asks first: on the threads of the job,
    /// not before.
    pub fn design(self, first: Option<&FirstRead>) -> Result<AnyDesign<'a>, Error> {
        on_view!(self, laid => laid.design(first);
            Self::Card(device) => OnDevice::new(device, first).map(AnyDesign::from),
            Self::Columns((rows, columns), starts, indices, values) => {
                Csc::new(rows, columns, starts, indices, values).map(AnyDesign::from)
            },
            Self::Genotypes((rows, columns), codes, missing) => {
                let design = Genotypes::with_missing(codes, rows, columns, missing)?;
                first.map_or(Ok(design.clone()), |first| design.read_for(first)).map(AnyDesign::from)
            },
            Self::Free(operator) => Ok(operator.into()),
            Self::Distributed(grid, workers) => Distributed::new(grid, workers, first).map(AnyDesign::from),
        )
    }
}

impl<'a, T: Storage> Laid<'a, T> {
    fn design(self, first: Option<&FirstRead>) -> Result<AnyDesign<'a>, Error> {
        T::design(self.data, self.shape, self.layout, first)
    }

    /// As [`View::copied`].
    fn copied(&self, cuda: &Arc<Cuda>) -> Result<OnCard, Error>
    where
        T: Stored,
    {
        let device = copied_numbers(cuda, self.data, self.layout, self.shape)?;
        Ok(OnCard { device, ordinal: cuda.ordinal(), numbers: T::NUMBERS })
    }

    /// The steps in memory from a row to the next, and from a column to the next.
    fn steps(&self) -> (usize, usize) {
        match self.layout {
            Layout::RowMajor => (self.shape.1, 1),
            Layout::ColumnMajor => (1, self.shape.0),
        }
    }

    fn value(&self, row: usize, column: usize) -> f64 {
        let (down, across) = self.steps();
        self.data.get(row * down + column * across).map_or(0.0, |value| value.to_f64())
    }

    /// As [`View::predict`].
    fn predict(&self, coefficients: &SparseVec, out: &mut [f64]) {
        match self.layout {
            Layout::RowMajor => {
                for (row, out) in out.iter_mut().enumerate() {
                    coefficients.entries().for_each(|(j, v)| *out += v * self.value(row, j));
                }
            }
            Layout::ColumnMajor => {
                for (j, v) in coefficients.entries() {
                    out.iter_mut().enumerate().for_each(|(row, out)| *out += v * self.value(row, j));
                }
            }
        }
    }

    /// As [`View::holes`].
    fn holes(&self, rows: &[usize]) -> Vec<Holes> {
        let mut found = vec![Holes::default(); self.shape.1];
        let mut see = |row: usize, column: usize| {
            if let Some(holes) = found.get_mut(column) {
                holes.see(row, self.value(row, column));
            }
        };
        match self.layout {
            Layout::RowMajor => rows.iter().for_each(|&row| (0..self.shape.1).for_each(|j| see(row, j))),
            Layout::ColumnMajor => (0..self.shape.1).for_each(|j| rows.iter().for_each(|&row| see(row, j))),
        }
        found
    }
}

/// The values of a column that are not there, and those that are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Holes {
    /// How many are missing.
    pub count: usize,
    /// The first row that lacks one.
    pub first: Option<usize>,
    sum: f64,
    seen: usize,
}

impl Holes {
    fn see(&mut self, row: usize, value: f64) {
        if value.is_nan() {
            self.count += 1;
            self.first.get_or_insert(row);
        } else {
            self.sum += value;
            self.seen += 1;
        }
    }

    /// The mean of what is there, added up row by row as the program does; NaN where nothing is.
    pub fn mean(&self) -> f64 {
        self.sum / self.seen as f64
    }
}

/// A product that Python computes. Where it fails the error is kept, and this and all later results are NaN, which ends
/// the fit.
fn product(function: &Py<PyAny>, ended: &Ended) -> impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static {
    let (function, ended) = (Python::attach(|py| function.clone_ref(py)), ended.clone());
    move |x, out| {
        if ended.has_failed() {
            out.fill(f64::NAN);
            return;
        }
        let done = Python::attach(|py| {
            let answer = function.bind(py).call1((PyArray1::from_slice(py, x),))?;
            let answer: PyReadonlyArray1<'_, f64> = answer.extract()?;
            let answer = answer.as_slice()?;
            if answer.len() != out.len() {
                let (found, expected) = (answer.len(), out.len());
                let message = format!("a product with the operator has length {found}; {expected} is needed");
                return Err(invalid(message));
            }
            out.copy_from_slice(answer);
            Ok(())
        });
        if let Err(error) = done {
            ended.keep(error);
            out.fill(f64::NAN);
        }
    }
}

/// A function of Python that carries messages. What it raises ends the job.
struct Carrier {
    ask: Py<PyAny>,
    ended: Ended,
    /// Threads wait here for each other, and not with the interpreter's lock.
    one_at_a_time: Mutex<()>,
}

impl Workers for Carrier {
    fn ask(&self, what: &str, messages: &[Vec<u8>], tasks: &[(usize, usize)]) -> Result<Vec<Vec<u8>>, Error> {
        let _turn = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = || Error::Workers { message: "the workers could not be asked".into() };
        if self.ended.has_failed() {
            return Err(failed());
        }
        let replies = Python::attach(|py| {
            let messages: Vec<_> = messages.iter().map(|message| PyBytes::new(py, message)).collect();
            let replies = self.ask.bind(py).call1((what, messages, tasks.to_vec()))?;
            let replies: Vec<PyBackedBytes> = replies.extract()?;
            Ok::<_, PyErr>(replies)
        });
        match replies {
            Ok(replies) => Ok(replies.iter().map(|reply| reply.to_vec()).collect()),
            Err(error) => {
                self.ended.keep(error);
                Err(failed())
            }
        }
    }
}
