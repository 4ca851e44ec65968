//! Matrices on graphics cards: copied there, or lent by whoever has them there.
//!
//! A lender says where a matrix is by DLPack or by `__cuda_array_interface__`; both become the same [`Told`], which is checked
//! before anything is made of it.

use std::any::Any;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

use katoms::Error;
use katoms::operator::{AnyDesign, Device};
use katoms_cuda::{Cuda, Lie, Numbers, probe};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::design::Matrix;
use crate::ended::Ended;
use crate::error::{invalid, raised};
use crate::pool::on_threads;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<OnCard>()?;
    module.add_function(wrap_pyfunction!(card, module)?)?;
    module.add_function(wrap_pyfunction!(stream, module)?)?;
    module.add_function(wrap_pyfunction!(copied, module)?)?;
    module.add_function(wrap_pyfunction!(lent, module)?)
}

/// A matrix in the memory of a card.
#[pyclass(frozen)]
pub struct OnCard {
    pub device: Arc<dyn Device>,
    /// Which card it is.
    #[pyo3(get)]
    pub ordinal: usize,
    pub numbers: Numbers,
}

#[pymethods]
impl OnCard {
    /// (rows, columns).
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.device.shape()
    }

    /// Whether its numbers are in single precision.
    #[getter]
    fn is_single(&self) -> bool {
        self.numbers == Numbers::F32
    }

    /// A column, in double precision.
    fn column<'py>(&self, py: Python<'py>, j: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut out = vec![0.0; self.device.shape().0];
        py.detach(|| on_threads(None, || self.device.apply(&[j], &[1.0], &mut out)))?.map_err(raised)?;
        Ok(PyArray1::from_vec(py, out))
    }
}

/// Opened on a thread of ours: that of the caller keeps the card that is current there.
pub fn opened(py: Python<'_>, ordinal: usize) -> PyResult<Arc<Cuda>> {
    probe().map_err(raised)?;
    py.detach(|| on_threads(None, || Cuda::open(ordinal)))?.map_err(raised)
}

/// Raises an error where there is no such card, or without a number, none at all.
#[pyfunction]
fn card(py: Python<'_>, ordinal: Option<usize>) -> PyResult<()> {
    match ordinal {
        Some(ordinal) => opened(py, ordinal).map(|_| ()),
        None => probe().map_err(raised),
    }
}

/// The stream on which we work on a card, for lenders.
#[pyfunction]
fn stream(py: Python<'_>, ordinal: usize) -> PyResult<u64> {
    Ok(opened(py, ordinal)?.stream())
}

/// A copy of a matrix on a card.
#[pyfunction]
fn copied(py: Python<'_>, matrix: Matrix<'_>, ordinal: usize) -> PyResult<OnCard> {
    let (cuda, view) = (opened(py, ordinal)?, matrix.view(&Ended::default())?);
    let copied = py.detach(|| on_threads(None, || view.copied(&cuda)))?.map_err(raised)?;
    copied.ok_or_else(|| invalid("a card holds dense and sparse matrices of numbers"))
}

/// Why a device has failed that a design was on, where it has.
pub fn failure(design: &AnyDesign<'_>) -> Option<Error> {
    match design {
        AnyDesign::Device(design) => design.failure(),
        _ => None,
    }
}

/// What a lender says of a matrix.
#[derive(Debug)]
struct Told {
    at: u64,
    /// The card; where the lender does not say, the driver does.
    ordinal: Option<usize>,
    /// A letter of the kind, as NumPy has it with V for bfloat, and the bits of a number.
    numbers: (char, usize),
    shape: Vec<i64>,
    /// Bytes from a row to the next, and from a column to the next; rows follow each other without gaps where none are told.
    steps: Option<Vec<i64>>,
    /// The stream that is to be waited for.
    stream: Option<u64>,
}

/// A matrix that someone has on a card, by a capsule of DLPack or by what `__cuda_array_interface__` gives, which belongs to
/// `lender`. Nothing is copied.
#[pyfunction]
fn lent(py: Python<'_>, lender: Bound<'_, PyAny>, told: Bound<'_, PyAny>) -> PyResult<OnCard> {
    let (told, lender) = match told.cast::<PyCapsule>() {
        // The capsule frees the memory when it goes.
        Ok(capsule) => (Told::of_capsule(capsule)?, told.clone().unbind()),
        Err(_) => (Told::of_interface(told.cast::<PyDict>()?)?, lender.unbind()),
    };
    let (lie, apart) = told.lie()?;
    probe().map_err(raised)?;
    let (at, stream) = (told.at, told.stream);
    let ordinal = told.ordinal.map_or_else(|| Cuda::ordinal_of(at), Ok).map_err(raised)?;
    let cuda = opened(py, ordinal)?;
    if let Some(stream) = stream {
        // SAFETY: the lender names a stream of its own.
        py.detach(|| on_threads(None, || unsafe { cuda.wait_for(stream) }))?.map_err(raised)?;
    }
    let lender: Box<dyn Any + Send + Sync> = Box::new(lender);
    // SAFETY: the lender says that the matrix is there, and keeps it there; that nobody writes it meanwhile is asked of callers,
    // as it is for arrays of the host. What wrote it is done, or comes before us on our stream.
    let device = unsafe { katoms_cuda::lent(&cuda, at, apart, lie, lender) };
    Ok(OnCard { device, ordinal, numbers: lie.numbers })
}

impl Told {
    /// How the matrix lies, and how many bytes its lines are apart.
    fn lie(&self) -> PyResult<(Lie, usize)> {
        let numbers = match self.numbers {
            ('f', 64) => Numbers::F64,
            ('f', 32) => Numbers::F32,
            ('f', 16) => Numbers::F16,
            ('V', 16) => Numbers::BF16,
            ('u' | 'b', 8) => Numbers::U8,
            ('i', 8) => Numbers::I8,
            (kind, bits) => {
                let kind = match kind {
                    'i' => "int",
                    'u' => "uint",
                    'f' => "float",
                    'V' => "bfloat",
                    'c' => "complex",
                    _ => "other numbers of ",
                };
                return Err(invalid(format!(
                    "X holds {kind}{bits} on a card; make it float64, float32, float16, bfloat16, int8, uint8 or bool there"
                )));
            }
        };
        let [rows, columns] = self.shape[..] else {
            let found = self.shape.len();
            return Err(invalid(format!(
                "Found array with dim {found}, but a matrix has 2: rows are samples, columns features."
            )));
        };
        let size = |count: i64| usize::try_from(count).ok().filter(|&count| 0 < count && count <= i32::MAX as usize);
        let (Some(rows), Some(columns)) = (size(rows), size(columns)) else {
            return Err(invalid(format!(
                "X has shape ({rows}, {columns}) on a card; a card takes from 1 to {} rows and columns",
                i32::MAX
            )));
        };
        let bytes = numbers.bytes();
        let steps = self.steps.clone().unwrap_or_else(|| vec![(columns * bytes) as i64, bytes as i64]);
        let gaps =
            "X has gaps between its rows and its columns on the card, or goes backwards; make it contiguous there";
        let step = |at: usize| steps.get(at).and_then(|&step| usize::try_from(step).ok()).ok_or_else(|| invalid(gaps));
        let (down, across) = (step(0)?, step(1)?);
        // A line of one number has no step of its own.
        let by_columns = (rows == 1 || down == bytes) && (columns == 1 || across >= rows * bytes);
        let by_rows = (columns == 1 || across == bytes) && (rows == 1 || down >= columns * bytes);
        let apart = match (by_columns, by_rows) {
            (true, _) => {
                if columns == 1 {
                    rows * bytes
                } else {
                    across
                }
            }
            (false, true) => down,
            (false, false) => return Err(invalid(gaps)),
        };
        let lines = if by_columns { columns } else { rows };
        if lines.checked_mul(apart).is_none_or(|bytes| i64::try_from(bytes).is_err()) {
            return Err(invalid(gaps));
        }
        if !apart.is_multiple_of(bytes) || !(self.at as usize).is_multiple_of(bytes) {
            return Err(invalid("X lies on the card where its numbers cannot be read one by one; copy it there"));
        }
        Ok((Lie { numbers, by_rows: !by_columns, shape: (rows, columns) }, apart))
    }

    /// What `__cuda_array_interface__` says, version 2 or 3.
    fn of_interface(told: &Bound<'_, PyDict>) -> PyResult<Self> {
        let item = |name: &str| -> PyResult<Bound<'_, PyAny>> {
            told.get_item(name)?.ok_or_else(|| invalid(format!("__cuda_array_interface__ of X has no {name}")))
        };
        let optional = |name: &str| Ok::<_, PyErr>(told.get_item(name)?.filter(|value| !value.is_none()));
        if optional("mask")?.is_some() {
            return Err(invalid("X is a masked array on a card; fill it first"));
        }
        let kind: String = item("typestr")?.extract()?;
        let parts =
            kind.chars().next().zip(kind.chars().nth(1)).zip(kind.get(2..).and_then(|n| n.parse::<usize>().ok()));
        let right = |&((order, _), bytes): &((char, char), usize)| order != '>' && bytes < 1 << 10;
        let unknown = || invalid(format!("X holds numbers of type {kind} on a card; make it float32 or float64 there"));
        let ((_, letter), bytes) = parts.filter(right).ok_or_else(unknown)?;
        let (at, _): (u64, bool) = item("data")?.extract()?;
        let steps = optional("strides")?.map(|steps| steps.extract()).transpose()?;
        let stream = optional("stream")?.map(|stream| stream.extract()).transpose()?;
        Ok(Self { at, ordinal: None, numbers: (letter, 8 * bytes), shape: item("shape")?.extract()?, steps, stream })
    }

    /// What a capsule of DLPack says.
    fn of_capsule(capsule: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        const PLAIN: &CStr = c"dltensor";
        const VERSIONED: &CStr = c"dltensor_versioned";
        let tensor = if capsule.is_valid_checked(Some(VERSIONED)) {
            let managed: *const Versioned = capsule.pointer_checked(Some(VERSIONED))?.as_ptr().cast_const().cast();
            // SAFETY: a capsule of this name points at this structure as long as it is there; every version begins like this.
            let managed = unsafe { &*managed };
            if managed.version.0 != 1 {
                return Err(invalid(format!("X speaks version {} of DLPack; 1 is known here", managed.version.0)));
            }
            &raw const managed.tensor
        } else {
            capsule.pointer_checked(Some(PLAIN))?.as_ptr().cast_const().cast()
        };
        // SAFETY: as above; a tensor comes first in the plain structure.
        let tensor = unsafe { &*tensor };
        let numbers = match (tensor.code, tensor.lanes) {
            (0, 1) => 'i',
            (1, 1) => 'u',
            (2, 1) => 'f',
            (4, 1) => 'V',
            (5, 1) => 'c',
            (6, 1) => 'b',
            _ => '?',
        };
        // More than any library has are those of a structure that is none.
        let dimensions = usize::try_from(tensor.dimensions).ok().filter(|&count| count <= 64).unwrap_or(0);
        let list = |at: *const i64| {
            // SAFETY: there are as many numbers there as dimensions.
            (dimensions > 0 && !at.is_null()).then(|| unsafe { std::slice::from_raw_parts(at, dimensions) }.to_vec())
        };
        let bytes = i64::from(tensor.bits).div_euclid(8);
        let steps = list(tensor.steps).map(|steps| steps.iter().map(|step| step.saturating_mul(bytes)).collect());
        let told = Self {
            at: (tensor.data as u64).wrapping_add(tensor.offset),
            ordinal: usize::try_from(tensor.device).ok(),
            numbers: (numbers, usize::from(tensor.bits)),
            shape: list(tensor.shape).unwrap_or_default(),
            steps,
            stream: None,
        };
        told.lie()?;
        match tensor.kind {
            CUDA | MANAGED => Ok(told),
            kind => Err(invalid(format!("X lies on a device of kind {kind} of DLPack; cards of NVIDIA are 2"))),
        }
    }
}

const CUDA: i32 = 2;
const MANAGED: i32 = 13;

/// DLTensor of DLPack.
#[repr(C)]
struct Tensor {
    data: *const c_void,
    kind: i32,
    device: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    steps: *const i64,
    offset: u64,
}

/// DLManagedTensorVersioned.
#[repr(C)]
struct Versioned {
    version: (u32, u32),
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    tensor: Tensor,
}
