//! What the benches share: problems, baselines, pictures and real data.

pub mod baselines;
#[cfg(test)]
mod claims;
pub mod curves;
pub mod curves_figure;
pub mod families;
pub mod figure;
pub mod full_svd;
pub mod problems;
pub mod reading;
pub mod scores;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use katoms::linalg::Matrix;

/// The folder with real data: `KATOMS_DATA`, or `../shared/data` beside the repository.
/// `None`, with a message, when it is absent.
pub fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("KATOMS_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no real data at {} (set KATOMS_DATA to the folder that has them)", folder.display());
    None
}

/// A PNG picture in grey, values between 0 and 255.
///
/// # Errors
/// When the file cannot be read, is no PNG, or has another depth than 8 bits.
pub fn grey_picture(path: &Path) -> Result<Matrix, String> {
    let told = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let file = File::open(path).map_err(|e| told(&e))?;
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().map_err(|e| told(&e))?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or_else(|| told(&"the picture is too large"))?];
    let info = reader.next_frame(&mut bytes).map_err(|e| told(&e))?;
    if info.bit_depth != png::BitDepth::Eight {
        return Err(told(&"a picture with 8 bits a channel is needed"));
    }
    let channels = info.color_type.samples();
    let (width, height) = (info.width as usize, info.height as usize);
    Ok(Matrix::from_fn(height, width, |i, j| {
        let pixel = &bytes[(i * width + j) * channels..][..channels];
        match *pixel {
            [r, g, b, ..] => 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b),
            [grey, ..] => f64::from(grey),
            [] => 0.0,
        }
    }))
}

/// 20·log10(255 / root mean square difference).
pub fn psnr(square_error: f64, pixels: usize) -> f64 {
    10.0 * (255.0 * 255.0 * pixels as f64 / square_error).log10()
}
