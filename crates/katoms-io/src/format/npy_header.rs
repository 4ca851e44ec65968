//! The header of an NPY file: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.

use crate::problem::short;

/// What every NPY file starts with.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// What the numbers are: the letter of NumPy, and the bytes of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) letter: u8,
    pub(crate) size: usize,
}

impl Kind {
    fn new(code: &str) -> Option<Self> {
        let known = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1";
        let code = code.trim_start_matches(['<', '>', '|', '=']);
        let known = known.split(' ').find(|known| *known == code)?.as_bytes();
        Some(Self { letter: known[0], size: usize::from(known[1] - b'0') })
    }
}

/// What the header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// The code of NumPy, where these are no numbers or none that are read.
    pub(crate) kind: Result<Kind, String>,
    /// Whether the numbers have their large end first.
    big_endian: bool,
    pub(crate) fortran_order: bool,
    pub(crate) shape: Vec<usize>,
    /// Where the numbers start.
    pub(crate) start: usize,
}

impl Header {
    /// Reads the header at the start of these bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let cut_off = || format!("the file ends too early: its {} bytes are not a whole header of NPY", bytes.len());
        if !bytes.starts_with(MAGIC) {
            return Err("these are not the bytes of an NPY file: it would start with \\x93NUMPY".into());
        }
        let major = *bytes.get(6).ok_or_else(cut_off)?;
        let (length, text) = match (major, bytes.get(8..12)) {
            (1, _) => (bytes.get(8..10).and_then(|b| b.try_into().ok()).map(|b| u16::from_le_bytes(b) as usize), 10),
            (2 | 3, Some(b)) => (b.try_into().ok().map(|b| u32::from_le_bytes(b) as usize), 12),
            (2 | 3, None) => (None, 12),
            _ => return Err(format!("the file is of version {major} of NPY; versions 1 to 3 are known")),
        };
        let start = length.and_then(|length| length.checked_add(text)).ok_or_else(cut_off)?;
        let text = bytes.get(text..start).ok_or_else(cut_off)?;
        let text = std::str::from_utf8(text).map_err(|_| "the header is not text".to_string())?;
        Self::entries(text, start).ok_or_else(|| format!("the header cannot be understood: {}", short(text.trim_end())))
    }

    fn entries(text: &str, start: usize) -> Option<Self> {
        let (code, fortran_order, shape) =
            (entry(text, "descr")?, entry(text, "fortran_order")?, entry(text, "shape")?);
        // records are a list of fields, anything else is a quoted code
        let code = match code.strip_prefix(['\'', '"']) {
            Some(code) => &code[..code.find(['\'', '"'])?],
            None => &code[..code.find("'fortran").filter(|_| code.starts_with('['))?],
        };
        let fortran_order = match fortran_order {
            word if word.starts_with("True") => true,
            word if word.starts_with("False") => false,
            _ => return None,
        };
        let shape = shape.strip_prefix('(').and_then(|shape| shape.split_once(')'))?.0;
        let sides = shape.split(',').map(|side| side.trim().trim_end_matches('L')).filter(|side| !side.is_empty());
        let shape = sides.map(|side| side.parse().ok()).collect::<Option<_>>()?;
        Some(Self {
            kind: Kind::new(code).ok_or_else(|| code.into()),
            big_endian: code.starts_with('>'),
            fortran_order,
            shape,
            start,
        })
    }

    /// Whether the bytes of a number stand the other way round than on this machine.
    pub(crate) fn is_swapped(&self) -> bool {
        self.big_endian != cfg!(target_endian = "big")
    }

    /// How many numbers there are. `None` where that cannot be counted.
    pub(crate) fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |count, &side| count.checked_mul(side))
    }
}

/// What follows `'name':`.
fn entry<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let at = text.find(&format!("'{name}'")).or_else(|| text.find(&format!("\"{name}\"")))?;
    text.get(at + name.len() + 2..)?.trim_start().strip_prefix(':').map(str::trim_start)
}
