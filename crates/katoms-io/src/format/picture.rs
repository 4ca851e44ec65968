//! PNG and JPEG pictures. Values go from 0 to 1; a pixel of a PNG that is wholly transparent is not seen.

use std::io::Cursor;
use std::path::Path;

use png::{BitDepth, ColorType, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::bad;
use crate::error::Error;
use crate::source::Picture;

/// What every PNG starts with.
pub(crate) const PNG_MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";

/// What every JPEG starts with.
pub(crate) const JPEG_MAGIC: &[u8] = b"\xff\xd8\xff";

/// Larger pictures are refused: their matrices would not be worth completing here, and a damaged header may promise
/// any size.
const MOST_PIXELS: usize = 1 << 28;

/// The picture of a PNG: grey or colour, with or without transparency, 1 to 16 bits, with or without a palette.
///
/// # Errors
/// When the file is cut off or damaged.
pub fn read_png(path: &Path, bytes: &[u8]) -> Result<Picture, Error> {
    let damaged =
        |error| bad(path, format!("the picture ends too early or is damaged ({error}); copy or write it again"));
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(damaged)?;
    let size = size_of_picture(path, reader.info().width as usize, reader.info().height as usize)?;
    let length = reader.output_buffer_size().ok_or_else(|| bad(path, "the picture is too large"))?;
    let mut samples = vec![0; length];
    let frame = reader.next_frame(&mut samples).map_err(damaged)?;
    // the checksums behind the last pixel are looked at, too
    reader.finish().map_err(damaged)?;
    samples.truncate(frame.buffer_size());
    let samples = match frame.bit_depth {
        BitDepth::Sixteen => {
            samples.as_chunks().0.iter().map(|&b| f64::from(u16::from_be_bytes(b)) / 65535.0).collect()
        }
        _ => eighths(&samples),
    };
    let (colours, has_alpha) = match frame.color_type {
        ColorType::Grayscale => (1, false),
        ColorType::GrayscaleAlpha => (1, true),
        ColorType::Rgba => (3, true),
        ColorType::Rgb | ColorType::Indexed => (3, false),
    };
    Ok(picture(size, &samples, colours, colours + usize::from(has_alpha)))
}

/// The picture of a JPEG, grey or colour.
///
/// # Errors
/// When the file is cut off or damaged.
pub fn read_jpeg(path: &Path, bytes: &[u8]) -> Result<Picture, Error> {
    let damaged = |error: String| {
        bad(path, format!("the picture ends too early or is damaged ({error}); copy or write it again"))
    };
    // not strict, the decoder would paint what is missing in grey
    let options = DecoderOptions::default().set_strict_mode(true).set_max_width(1 << 16).set_max_height(1 << 16);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| damaged(error.to_string()))?;
    let info = decoder.info().ok_or_else(|| damaged("no header".into()))?;
    let size = size_of_picture(path, usize::from(info.width), usize::from(info.height))?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let (colours, space) = if is_grey { (1, ColorSpace::Luma) } else { (3, ColorSpace::RGB) };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let samples = decoder.decode().map_err(|error| damaged(error.to_string()))?;
    Ok(picture(size, &eighths(&samples), colours, colours))
}

/// Rows and columns, if they are not too many.
fn size_of_picture(path: &Path, width: usize, height: usize) -> Result<(usize, usize), Error> {
    let fits = width.checked_mul(height).is_some_and(|pixels| pixels <= MOST_PIXELS);
    let problem = || {
        format!("a picture of {height} rows and {width} columns is too large: at most {MOST_PIXELS} pixels are read")
    };
    fits.then_some((height, width)).ok_or_else(|| bad(path, problem()))
}

fn eighths(samples: &[u8]) -> Vec<f64> {
    samples.iter().map(|&v| f64::from(v) / 255.0).collect()
}

/// The picture of `stride` samples a pixel: `colours`, then perhaps how opaque it is.
fn picture((rows, columns): (usize, usize), samples: &[f64], colours: usize, stride: usize) -> Picture {
    let channels = (0..colours).map(|c| samples.chunks_exact(stride).map(|pixel| pixel[c]).collect()).collect();
    let seen =
        samples.chunks_exact(stride).map(|pixel| pixel.get(colours).is_none_or(|&opaque| opaque > 0.0)).collect();
    Picture { rows, columns, channels, seen }
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
