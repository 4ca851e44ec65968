//! NVIDIA graphics cards, by the driver that is found at run time.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::fmt;
use std::io::Read;
use std::panic::catch_unwind;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use katoms::Error;

use crate::machine::{Call, Laid, Machine, Numbers, SparselyLaid};

/// The kernels, as `kernels/compile.py` compiles them.
const COMMON: &[u8] = include_bytes!("../kernels/COMMON.ptx.gz");
fn kernels_of(numbers: Numbers) -> &'static [u8] {
    match numbers {
        Numbers::F64 => include_bytes!("../kernels/F64.ptx.gz"),
        Numbers::F32 => include_bytes!("../kernels/F32.ptx.gz"),
        Numbers::F16 => include_bytes!("../kernels/F16.ptx.gz"),
        Numbers::BF16 => include_bytes!("../kernels/BF16.ptx.gz"),
        Numbers::U8 => include_bytes!("../kernels/U8.ptx.gz"),
        Numbers::I8 => include_bytes!("../kernels/I8.ptx.gz"),
    }
}

/// Their names.
const NAMES: [&str; 10] =
    ["pack", "add_up", "apply", "finish", "decode", "pass_sparse", "squares_sparse", "gather_sparse", "take", "dots"];

/// Threads of a block, and warps of a block of a pass, whose kernels are compiled for as many.
const THREADS: usize = 256;
const WARPS: usize = 4;
/// Columns that a warp multiplies where columns follow each other.
const COLUMNS: usize = 32;
/// Bytes of the host's memory through which copies go.
const STAGED: usize = 1 << 26;
/// Bytes that are copied out of it at a time, and those for which a thread is worth its start.
const PIECE: usize = 1 << 18;
const SHARE: usize = 1 << 22;

/// Whether there is a driver with a device, and if not, why not.
///
/// # Errors
/// When there is none.
pub fn probe() -> Result<(), Error> {
    // SAFETY: it looks for the library and loads it.
    let present = catch_unwind(|| unsafe { sys::is_culib_present() }).unwrap_or(false);
    if !present {
        let message =
            "there is no NVIDIA driver on this machine (libcuda was not found); install one, or fit on the CPU";
        return Err(Error::Device { message: message.into() });
    }
    let count = guarded(|| {
        result::init()?;
        result::device::get_count()
    });
    match count {
        Ok(count) if count > 0 => Ok(()),
        Ok(_) => Err(Error::Device { message: "there is no CUDA device on this machine; fit on the CPU".into() }),
        Err(Error::Device { message }) => {
            Err(Error::Device { message: format!("the NVIDIA driver does not start: {message}; fit on the CPU") })
        }
        Err(error) => Err(error),
    }
}

/// A call of the driver. One that the driver does not know is an error, not a panic.
fn guarded<T>(call: impl FnOnce() -> Result<T, DriverError>) -> Result<T, Error> {
    let called = catch_unwind(std::panic::AssertUnwindSafe(call));
    match called {
        Ok(done) => done.map_err(|error| Error::Device { message: said(error) }),
        Err(_) => Err(Error::Device { message: "the NVIDIA driver is too old; version 530 or later is needed".into() }),
    }
}

fn said(error: DriverError) -> String {
    let text = |found: Result<&std::ffi::CStr, DriverError>| found.ok().map(|text| text.to_string_lossy().into_owned());
    let name = text(error.error_name()).unwrap_or_else(|| "an error".into());
    let what = text(error.error_string()).unwrap_or_default();
    format!("the driver says {name} ({what})")
}

/// A graphics card.
pub struct Cuda {
    name: String,
    ordinal: usize,
    context: sys::CUcontext,
    stream: sys::CUstream,
    common: Kernels,
    kernels: Mutex<HashMap<Numbers, Kernels>>,
    staged: Mutex<Staged>,
}

/// Kernels by their names.
type Kernels = HashMap<&'static str, Function>;

#[derive(Clone, Copy)]
struct Function(sys::CUfunction);

/// Memory of the host that the device can reach, and how much of it is in use by copies that may not have run yet.
struct Staged {
    at: *mut u8,
    used: usize,
}

// SAFETY: handles of the driver may be used from any thread once its context is current, which every call sees to; the
// staged memory is behind a lock.
unsafe impl Send for Cuda {}
// SAFETY: as above.
unsafe impl Sync for Cuda {}
// SAFETY: as above.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}
// SAFETY: as above.
unsafe impl Send for Staged {}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (cuda:{})", self.name, self.ordinal)
    }
}

/// Memory of a card.
pub struct Memory {
    at: sys::CUdeviceptr,
    bytes: usize,
    /// Who lends it; nobody where it is ours.
    lender: Option<Box<dyn Any + Send + Sync>>,
    context: sys::CUcontext,
}

// SAFETY: an address on the device and the context that it is of; see above.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x}", self.bytes, self.at)
    }
}

impl Memory {
    /// Memory that someone lends.
    ///
    /// # Safety
    /// There are `bytes` bytes at the address on this card as long as the lender is kept, and nobody writes them.
    pub unsafe fn lent(cuda: &Cuda, at: u64, bytes: usize, lender: Box<dyn Any + Send + Sync>) -> Self {
        Self { at, bytes, lender: Some(lender), context: cuda.context }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.lender.is_none() {
            // An error here has nobody to go to. The thread may be anyone's, who finds its context as it was.
            // SAFETY: it was reserved, and nothing uses it any more: what a call began it has waited for.
            let _ = guarded(|| unsafe {
                let before = result::ctx::get_current()?;
                result::ctx::set_current(self.context)?;
                result::free_sync(self.at)?;
                before.map_or(Ok(()), |before| result::ctx::set_current(before))
            });
        }
    }
}

/// The design as the kernels take it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Shape {
    x: u64,
    apart: i64,
    rows: i32,
    columns: i32,
    aligned: i32,
    split: i32,
}

impl Shape {
    fn of(design: &Laid<'_, Memory>, split: usize) -> Self {
        let aligned = design.memory.at.is_multiple_of(16) && design.apart.is_multiple_of(16);
        Self {
            x: design.memory.at,
            apart: design.apart as i64,
            rows: design.rows as i32,
            columns: design.columns as i32,
            aligned: i32::from(aligned),
            split: split as i32,
        }
    }
}

/// The same where few entries are stored.
#[repr(C)]
#[derive(Clone, Copy)]
struct Sparse {
    values: u64,
    rows: u64,
    starts: u64,
    columns: i64,
    list: u64,
}

impl Sparse {
    fn of(design: &SparselyLaid<'_, Memory>) -> Self {
        Self {
            values: design.values.at,
            rows: design.indices.at,
            starts: design.starts.at,
            columns: design.columns as i64,
            list: design.list.map_or(0, |list| list.at),
        }
    }
}

/// The arguments of a kernel, which it takes by their addresses.
#[derive(Default)]
struct Arguments(Vec<Box<dyn Any>>);

impl Arguments {
    fn with<T: Copy + 'static>(mut self, value: T) -> Self {
        self.0.push(Box::new(value));
        self
    }
    fn addresses(&mut self) -> Vec<*mut c_void> {
        self.0.iter_mut().map(|value| ptr::from_mut::<dyn Any>(&mut **value).cast()).collect()
    }
}

impl Cuda {
    /// The card with this number. Each is opened once.
    ///
    /// # Errors
    /// When there is no driver, or no such card.
    pub fn open(ordinal: usize) -> Result<Arc<Self>, Error> {
        static OPEN: OnceLock<Mutex<HashMap<usize, Arc<Cuda>>>> = OnceLock::new();
        probe()?;
        let mut open = OPEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cuda) = open.get(&ordinal) {
            return Ok(Arc::clone(cuda));
        }
        let count = guarded(result::device::get_count)? as usize;
        if ordinal >= count {
            let message = format!("there is no device cuda:{ordinal}; there are {count}, counted from 0");
            return Err(Error::Device { message });
        }
        // SAFETY: the device exists. Its primary context is the one that other libraries use; it is kept for good.
        let (name, context, stream, at) = guarded(|| unsafe {
            let device = result::device::get(ordinal as i32)?;
            let name = result::device::get_name(device)?;
            let context = result::primary_ctx::retain(device)?;
            result::ctx::set_current(context)?;
            let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
            Ok((name, context, stream, result::malloc_host(STAGED, 0)?.cast::<u8>()))
        })?;
        let common = functions(COMMON, &NAMES)?;
        let (kernels, staged) = (Mutex::default(), Mutex::new(Staged { at, used: 0 }));
        let cuda = Arc::new(Self { name, ordinal, context, stream, common, kernels, staged });
        open.insert(ordinal, Arc::clone(&cuda));
        Ok(cuda)
    }

    /// The stream on which it works, as other libraries know it.
    pub fn stream(&self) -> u64 {
        self.stream as u64
    }

    /// The card that memory at this address is on.
    ///
    /// # Errors
    /// When there is no driver, or the address is on no card.
    pub fn ordinal_of(at: u64) -> Result<usize, Error> {
        probe()?;
        let mut ordinal: i32 = -1;
        let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        // SAFETY: this attribute is one number of this type.
        guarded(|| unsafe { sys::cuPointerGetAttribute(ptr::from_mut(&mut ordinal).cast(), attribute, at).result() })?;
        let nowhere = || Error::Device { message: format!("there is no memory of a card at {at:#x}") };
        usize::try_from(ordinal).map_err(|_| nowhere())
    }

    /// Which card it is, counted from 0.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Waits until what other libraries have begun on a stream of theirs is done.
    ///
    /// # Safety
    /// There is such a stream; 1 is that of the driver, and 2 one that each thread has its own of.
    ///
    /// # Errors
    /// When that fails.
    pub unsafe fn wait_for(&self, stream: u64) -> Result<(), Error> {
        match stream {
            // The thread may be another one than this.
            2 => self.inside(result::ctx::synchronize),
            // SAFETY: the caller's word.
            _ => self.inside(|| unsafe { result::stream::synchronize(stream as sys::CUstream) }),
        }
    }

    /// A call with the context current.
    fn inside<T>(&self, call: impl FnOnce() -> Result<T, DriverError>) -> Result<T, Error> {
        guarded(|| {
            // SAFETY: the context is kept for good.
            unsafe { result::ctx::set_current(self.context) }?;
            call()
        })
    }

    fn staged(&self) -> MutexGuard<'_, Staged> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kernel(&self, numbers: Numbers, name: &str) -> Result<Function, Error> {
        let mut known = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let std::collections::hash_map::Entry::Vacant(empty) = known.entry(numbers) {
            self.inside(|| Ok(()))?;
            let mut names = vec!["pass_columns_1", "pass_columns_4", "squares_columns", "pass_rows_1", "squares_rows"];
            names.extend(["gather_columns", "take_row", "code_rows"]);
            if many_by_rows(numbers) {
                names.push("pass_rows_4");
            }
            empty.insert(functions(kernels_of(numbers), &names)?);
        }
        found(known.get(&numbers).and_then(|kernels| kernels.get(name)))
    }

    fn start(
        &self,
        kernel: Function,
        (grid, threads): ([usize; 3], usize),
        mut arguments: Arguments,
    ) -> Result<(), Error> {
        let grid = (grid[0] as u32, grid[1] as u32, grid[2] as u32);
        let mut addresses = arguments.addresses();
        // SAFETY: the arguments are those of the kernel in their order, and what they point at is reserved.
        self.inside(|| unsafe {
            result::launch_kernel(kernel.0, grid, (threads as u32, 1, 1), 0, self.stream, &mut addresses)
        })
    }

    fn no_room(&self, bytes: usize) -> Error {
        let gigabytes = |bytes: usize| format!("{:.1} GB", bytes as f64 / 1e9);
        let free = self.inside(result::mem_get_info).map(|(free, _)| gigabytes(free));
        let message = format!(
            "{self:?} has {} of memory free, and {} more are needed; store the numbers in fewer bytes (float16, int8), free \
             what else is on the device, or fit on the CPU",
            free.unwrap_or_else(|_| "no".into()),
            gigabytes(bytes),
        );
        Error::Device { message }
    }
}

/// A copy by as many threads as are worth it, of its own: see [`copy_out`].
fn copy_in(to: &mut [u8], from: &[u8]) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(from.len() / SHARE).max(1);
    let each = from.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let mut chunks = to.chunks_mut(each).zip(from.chunks(each));
        let own = chunks.next();
        chunks.for_each(|(to, from)| drop(scope.spawn(move || to.copy_from_slice(from))));
        own.into_iter().for_each(|(to, from)| to.copy_from_slice(from));
    });
}

/// Fills pieces with what lies at their places. By threads of its own: one of a pool might meanwhile begin what waits for the
/// same device, and never end.
fn copy_out<'c>(pieces: &mut [(usize, &mut [u8])], at: &(dyn Fn(usize) -> &'c [u8] + Sync)) {
    let copy = |pieces: &mut [(usize, &mut [u8])]| {
        pieces.iter_mut().for_each(|(place, piece)| piece.copy_from_slice(&at(*place)[..piece.len()]));
    };
    let bytes: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(bytes / SHARE).max(1);
    let each = pieces.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let mut chunks = pieces.chunks_mut(each);
        let own = chunks.next();
        chunks.for_each(|chunk| drop(scope.spawn(move || copy(chunk))));
        own.map(copy);
    });
}

/// Whether there is a kernel for many vectors where rows follow each other.
fn many_by_rows(numbers: Numbers) -> bool {
    matches!(numbers, Numbers::F64 | Numbers::F32)
}

fn found(kernel: Option<&Function>) -> Result<Function, Error> {
    kernel.copied().ok_or_else(|| Error::Device { message: "a kernel is missing; katoms was not built whole".into() })
}

/// The functions of a module, which the driver compiles for its device.
fn functions(compressed: &[u8], names: &[&'static str]) -> Result<Kernels, Error> {
    let mut text = Vec::new();
    let unpacked = flate2::read::GzDecoder::new(compressed).read_to_end(&mut text);
    let text = unpacked.ok().and_then(|_| CString::new(text).ok());
    let text = text.ok_or_else(|| Error::Device { message: "the kernels are damaged; install katoms anew".into() })?;
    // SAFETY: the text ends with a zero; the module is kept for good.
    guarded(|| unsafe {
        let module = result::module::load_data(text.as_ptr().cast())?;
        let one = |&name: &&'static str| {
            let c_name = CString::new(name).unwrap_or_default();
            Ok((name, Function(result::module::get_function(module, c_name)?)))
        };
        names.iter().map(one).collect()
    })
}

impl Machine for Cuda {
    type Memory = Memory;

    fn reserve(&self, bytes: usize) -> Result<Memory, Error> {
        // SAFETY: nothing reads what has not been written.
        let reserved = self.inside(|| unsafe { result::malloc_sync(bytes.max(1)) });
        match reserved {
            Ok(at) => Ok(Memory { at, bytes, lender: None, context: self.context }),
            Err(Error::Device { message }) if message.contains("OUT_OF_MEMORY") => Err(self.no_room(bytes)),
            Err(error) => Err(error),
        }
    }

    fn write(&self, to: &Memory, place: usize, bytes: &[u8]) -> Result<(), Error> {
        assert!(place + bytes.len() <= to.bytes, "a copy would go beyond its memory");
        let mut to = to.at + place as u64;
        let mut staged = self.staged();
        // While one half is on its way the other one is filled.
        for bytes in bytes.chunks(STAGED / 2) {
            if staged.used + bytes.len() > STAGED {
                // SAFETY: copies from the staged memory are waited for before it is used again.
                self.inside(|| unsafe { result::stream::synchronize(self.stream) })?;
                staged.used = 0;
            }
            // SAFETY: there is room behind what is in use, and only the holder of the lock writes there.
            let copy = unsafe { std::slice::from_raw_parts_mut(staged.at.add(staged.used), bytes.len()) };
            copy_in(copy, bytes);
            staged.used += bytes.len().next_multiple_of(64);
            // SAFETY: the copy stays as it is until the stream has come so far.
            self.inside(|| unsafe { result::memcpy_htod_async(to, copy, self.stream) })?;
            to += bytes.len() as u64;
        }
        Ok(())
    }

    fn read(&self, from: &Memory, place: usize, outs: &mut [&mut [u8]]) -> Result<(), Error> {
        let bytes: usize = outs.iter().map(|out| out.len()).sum();
        assert!(place + bytes <= from.bytes, "a copy would go beyond its memory");
        let mut staged = self.staged();
        // What is copied out of the staged memory at a time, part of one end, with its place among all bytes.
        let mut pieces: Vec<(usize, &mut [u8])> = Vec::new();
        let mut at = 0;
        for out in outs {
            for piece in out.chunks_mut(PIECE) {
                let length = piece.len();
                pieces.push((at, piece));
                at += length;
            }
        }
        let mut pieces = &mut pieces[..];
        while let Some(first) = pieces.first().map(|piece| piece.0) {
            if staged.used > 0 && staged.used + (bytes - first).min(STAGED / 2) > STAGED {
                // SAFETY: as in `write`.
                self.inside(|| unsafe { result::stream::synchronize(self.stream) })?;
                staged.used = 0;
            }
            let fit = pieces.partition_point(|(at, piece)| at + piece.len() - first <= STAGED - staged.used);
            let (now, later) = pieces.split_at_mut(fit);
            let length: usize = now.iter().map(|(_, piece)| piece.len()).sum();
            // SAFETY: the staged memory is ours while the lock is held, and the stream is waited for before it is read.
            let copy = self.inside(|| unsafe {
                let copy = std::slice::from_raw_parts_mut(staged.at.add(staged.used), length);
                result::memcpy_dtoh_async(copy, from.at + (place + first) as u64, self.stream)?;
                result::stream::synchronize(self.stream)?;
                Ok(&*copy)
            })?;
            copy_out(now, &|at| &copy[at - first..]);
            // Everything before has run.
            staged.used = 0;
            pieces = later;
        }
        Ok(())
    }

    fn launch(&self, call: &Call<'_, Memory>) -> Result<(), Error> {
        let common = |name: &str| found(self.common.get(name));
        let many = |count: usize| ([count.div_ceil(THREADS).max(1), 1, 1], THREADS);
        let new = Arguments::default;
        let length = |value: usize| value as i64;
        match *call {
            Call::Pass { design, list, squares, packed, blocks, centres, split, out } => {
                let four = blocks.is_multiple_of(4) && (!design.by_rows || many_by_rows(design.numbers));
                let (name, each) = match (design.by_rows, squares, four) {
                    (false, true, _) => ("squares_columns", 1),
                    (true, true, _) => ("squares_rows", 1),
                    (false, false, true) => ("pass_columns_4", 4),
                    (true, false, true) => ("pass_rows_4", 4),
                    (false, false, false) => ("pass_columns_1", 1),
                    (true, false, false) => ("pass_rows_1", 1),
                };
                let warp = if design.by_rows { 8 * design.numbers.lane() } else { COLUMNS };
                let across = design.columns.div_ceil(warp * WARPS);
                let grid = [across, design.rows.div_ceil(split), blocks / each];
                let arguments = new().with(Shape::of(&design, split)).with(list.map_or(0, |list| list.at));
                let arguments = arguments.with(packed.at).with(blocks as i32);
                let arguments = arguments.with(centres.map_or(0, |centres| centres.at)).with(out.at);
                self.start(self.kernel(design.numbers, name)?, (grid, 32 * WARPS), arguments)
            }
            Call::Gather { design, list, count, h, apart, out } => {
                let grid = [apart.div_ceil(THREADS), count, 1];
                let arguments = new().with(Shape::of(&design, 0)).with(i32::from(design.by_rows)).with(list.at);
                let arguments = arguments.with(h.map_or(0, |h| h.at)).with(length(apart)).with(out.at);
                self.start(self.kernel(design.numbers, "gather_columns")?, (grid, THREADS), arguments)
            }
            Call::SparsePass { design, packed, blocks, count, out } => {
                let grid = [design.columns.div_ceil(THREADS / 32), count.div_ceil(8), 1];
                let arguments = new().with(Sparse::of(&design)).with(packed.at).with(blocks as i32);
                self.start(common("pass_sparse")?, (grid, THREADS), arguments.with(count as i32).with(out.at))
            }
            Call::SparseSquares { design, packed, count, totals, centres, out } => {
                let arguments = new().with(Sparse::of(&design)).with(packed.at).with(count as i32);
                let arguments = arguments.with(totals.at).with(centres.at).with(out.at);
                self.start(common("squares_sparse")?, many(32 * design.columns), arguments)
            }
            Call::SparseGather { design, h, apart, out } => {
                let arguments = new().with(Sparse::of(&design)).with(h.map_or(0, |h| h.at)).with(length(apart));
                self.start(common("gather_sparse")?, ([design.columns, 1, 1], THREADS), arguments.with(out.at))
            }
            Call::Take { values, which, count, out } => {
                let arguments = new().with(values.at).with(which.at).with(length(count)).with(out.at);
                self.start(common("take")?, many(count), arguments)
            }
            Call::Dots { left, right, shape, rank, places, count, out } => {
                let arguments = new().with(left.at).with(length(shape.0)).with(right.at).with(length(shape.1));
                let arguments = arguments.with(rank as i32).with(places.at).with(length(count)).with(out.at);
                self.start(common("dots")?, many(count), arguments)
            }
            Call::Row { design, row, out } => {
                let arguments = new().with(Shape::of(&design, 0)).with(i32::from(design.by_rows));
                let arguments = arguments.with(length(row)).with(out.at);
                self.start(self.kernel(design.numbers, "take_row")?, many(design.columns), arguments)
            }
            Call::Pack { vectors, apart, rows, count, lane, blocks, out } => {
                let total = rows.div_ceil(4 * lane) * lane * blocks * 32;
                let arguments = new().with(vectors.at).with(length(apart)).with(rows as i32).with(count as i32);
                let arguments = arguments.with(lane as i32).with(blocks as i32).with(length(total)).with(out.at);
                self.start(common("pack")?, many(total), arguments)
            }
            Call::AddUp { parts, count, length: each, out } => {
                let arguments = new().with(parts.at).with(count as i32).with(length(each)).with(out.at);
                self.start(common("add_up")?, many(each), arguments)
            }
            Call::Apply { columns, apart, rows, count, values, each, out } => {
                let grid = [rows.div_ceil(THREADS), count.div_ceil(each), 1];
                let arguments = new().with(columns.at).with(length(apart)).with(rows as i32).with(count as i32);
                let arguments = arguments.with(values.at).with(each as i32).with(out.at);
                self.start(common("apply")?, (grid, THREADS), arguments)
            }
            Call::Finish { sums, centres, columns, total, sum, out } => {
                let arguments = new().with(sums.at).with(centres.at).with(length(columns)).with(total).with(sum);
                self.start(common("finish")?, many(columns), arguments.with(out.at))
            }
            Call::Code { design, block, every, count, length: codes_length, means, codes, centres, steps } => {
                let arguments = new().with(Shape::of(&design, 0)).with(i32::from(design.by_rows)).with(block as i32);
                let arguments = arguments.with(every as i32).with(count as i32).with(length(codes_length));
                let arguments = arguments.with(means.at).with(codes.at).with(centres.at).with(steps.at);
                self.start(self.kernel(design.numbers, "code_rows")?, many(32 * design.columns), arguments)
            }
            Call::Decode { products, steps, centres, columns, count, units, totals } => {
                let arguments = new().with(products.at).with(steps.at).with(centres.at).with(length(columns));
                let arguments = arguments.with(count as i32).with(units.at).with(totals.at);
                self.start(common("decode")?, many(columns), arguments)
            }
        }
    }
}
