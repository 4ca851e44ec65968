//! PNG and JPEG pictures. Values go from 0 to 1; a pixel of a PNG that is wholly transparent is not seen.

use std::io::Cursor;
use std::path::Path;

use png::{BitDepth, ColorType, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::allocation::{Budget, MaxUnpacked, OutOfMemory, ask, filled, gathered, in_words};
use crate::error::{Error, bad};
use crate::source::Picture;

/// What every PNG starts with.
pub(crate) const PNG_MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";

/// What every JPEG starts with.
pub(crate) const JPEG_MAGIC: &[u8] = b"\xff\xd8\xff";

/// The most bytes of samples that a byte of a PNG unpacks to: the most that deflate can do.
const PNG_RATIO: u64 = 1032;

/// The most pixels that a byte of a JPEG stands for: a block of 8 × 8 takes a bit at least, and where components are
/// sampled at different rates, up to two blocks of pixels share one.
const JPEG_RATIO: u64 = 1024;

/// The picture of a PNG: grey or colour, with or without transparency, 1 to 16 bits, with or without a palette.
///
/// # Errors
/// When the file is cut off or damaged.
pub fn read_png(path: &Path, bytes: &[u8], limit: MaxUnpacked) -> Result<Picture, Error> {
    let damaged =
        |error| bad(path, format!("the picture ends too early or is damaged ({error}); copy or write it again"));
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(damaged)?;
    let (width, height) = (reader.info().width, reader.info().height);
    let size = Size { width: width as usize, height: height as usize };
    let row = reader.info().raw_row_length() as u64;
    size.check(row.saturating_mul(height.into()) / PNG_RATIO, bytes, limit).map_err(|problem| bad(path, problem))?;
    let length = reader.output_buffer_size().ok_or_else(|| bad(path, "the picture is too large"))?;
    let mut samples = filled(0, length).map_err(|problem| bad(path, problem))?;
    let frame = reader.next_frame(&mut samples).map_err(damaged)?;
    // the checksums behind the last pixel are looked at, too
    reader.finish().map_err(damaged)?;
    samples.truncate(frame.buffer_size());
    let (colours, has_alpha) = match frame.color_type {
        ColorType::Grayscale => (1, false),
        ColorType::GrayscaleAlpha => (1, true),
        ColorType::Rgba => (3, true),
        ColorType::Rgb | ColorType::Indexed => (3, false),
    };
    let stride = colours + usize::from(has_alpha);
    let picture = match frame.bit_depth {
        BitDepth::Sixteen => {
            size.picture(samples.as_chunks().0, |&b| f64::from(u16::from_be_bytes(b)) / 65535.0, colours, stride)
        }
        _ => size.picture(&samples, |&b| f64::from(b) / 255.0, colours, stride),
    };
    picture.map_err(|problem| bad(path, problem))
}

/// The picture of a JPEG, grey or colour.
///
/// # Errors
/// When the file is cut off or damaged.
pub fn read_jpeg(path: &Path, bytes: &[u8], limit: MaxUnpacked) -> Result<Picture, Error> {
    let damaged = |error: String| {
        bad(path, format!("the picture ends too early or is damaged ({error}); copy or write it again"))
    };
    // the decoder takes a picture without its last marker for a whole one
    if !bytes.windows(2).rev().any(|pair| pair == b"\xff\xd9") {
        return Err(damaged("there is no end of image".into()));
    }
    // not strict, the decoder would paint what is missing in grey
    let options = DecoderOptions::default().set_strict_mode(true).set_max_width(1 << 16).set_max_height(1 << 16);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| damaged(error.to_string()))?;
    let info = decoder.info().ok_or_else(|| damaged("no header".into()))?;
    let size = Size { width: usize::from(info.width), height: usize::from(info.height) };
    size.check(size.pixels() / JPEG_RATIO, bytes, limit).map_err(|problem| bad(path, problem))?;
    // three samples a pixel, and as many coefficients of two bytes where they come in several scans
    ask(size.pixels() * 9).map_err(|problem| bad(path, problem))?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let (colours, space) = if is_grey { (1, ColorSpace::Luma) } else { (3, ColorSpace::RGB) };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let samples = decoder.decode().map_err(|error| damaged(error.to_string()))?;
    let picture = size.picture(&samples, |&b| f64::from(b) / 255.0, colours, colours);
    picture.map_err(|problem| bad(path, problem))
}

/// The sides of a picture, as its header has them.
#[derive(Clone, Copy)]
struct Size {
    width: usize,
    height: usize,
}

impl Size {
    fn pixels(self) -> u64 {
        (self.width as u64).saturating_mul(self.height as u64)
    }

    /// Whether a file of these bytes can hold `least` bytes, which the picture takes at the least, and whether the
    /// picture is within the limit.
    fn check(self, least: u64, bytes: &[u8], limit: MaxUnpacked) -> Result<(), String> {
        let Self { width, height } = self;
        let of_size = format!("a picture of {height} rows and {width} columns");
        if least > bytes.len() as u64 {
            let there = in_words(bytes.len() as u64);
            return Err(format!("the picture ends too early or is damaged: {of_size} does not fit in {there}"));
        }
        // three channels, and whether a pixel is seen
        let needed = self.pixels().saturating_mul(3 * size_of::<f64>() as u64 + 1);
        Budget::new(limit).take(needed).map_err(|problem| format!("{of_size}: {problem}"))
    }

    /// The picture of `stride` samples a pixel: `colours`, then perhaps how opaque it is.
    fn picture<T>(
        self,
        samples: &[T],
        value: impl Fn(&T) -> f64,
        colours: usize,
        stride: usize,
    ) -> Result<Picture, OutOfMemory> {
        let pixels = || samples.chunks_exact(stride);
        let channel = |c: usize| gathered(pixels().map(|pixel| pixel.get(c).map_or(0.0, &value)));
        let channels = (0..colours).map(channel).collect::<Result<_, _>>()?;
        let seen = gathered(pixels().map(|pixel| pixel.get(colours).is_none_or(|opaque| value(opaque) > 0.0)))?;
        Ok(Picture { rows: self.height, columns: self.width, channels, seen })
    }
}

/// The bytes of a PNG of 8 bits. Values are cut to 0..1; pixels that are not seen become transparent.
///
/// # Errors
/// When the picture has no pixels, or neither 1 nor 3 channels of as many values.
pub fn write_png(picture: &Picture) -> Result<Vec<u8>, Error> {
    let refused = |problem: String| Error::Request(format!("the picture cannot be written as PNG: {problem}"));
    let pixels = picture.rows * picture.columns;
    let fits = picture.channels.iter().all(|channel| channel.len() == pixels) && picture.seen.len() == pixels;
    if !fits || !matches!(picture.channels.len(), 1 | 3) {
        let (rows, columns, channels) = (picture.rows, picture.columns, picture.channels.len());
        return Err(refused(format!("{rows} × {columns} pixels do not fit its {channels} channels")));
    }
    let has_alpha = picture.seen.contains(&false);
    let mut samples = Vec::with_capacity(pixels * 4);
    for pixel in 0..pixels {
        // a NaN becomes 0
        samples.extend(picture.channels.iter().map(|channel| (channel[pixel].clamp(0.0, 1.0) * 255.0).round() as u8));
        if has_alpha {
            samples.push(if picture.seen[pixel] { 255 } else { 0 });
        }
    }
    let colour = match (picture.channels.len(), has_alpha) {
        (1, false) => ColorType::Grayscale,
        (1, true) => ColorType::GrayscaleAlpha,
        (_, false) => ColorType::Rgb,
        (_, true) => ColorType::Rgba,
    };
    encoded(picture, colour, &samples).map_err(|error| refused(error.to_string()))
}

fn encoded(picture: &Picture, colour: ColorType, samples: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side(picture.columns), side(picture.rows));
    encoder.set_color(colour);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(samples)?;
    writer.finish()?;
    Ok(bytes)
}
