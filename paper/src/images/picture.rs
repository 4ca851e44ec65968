//! Grey pictures: read, drawn, and packed for a figure.

use std::path::Path;

use anyhow::{Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use katoms::linalg::Matrix;
use katoms::simulate;
use katoms::space::LowRank;
use katoms_io::{ReadOptions, Source, write_png};

use crate::figure::Picture;

/// What red, green and blue add to the luminance (Rec. 601).
const LUMA: [f64; 3] = [0.299, 0.587, 0.114];
/// Larger pictures are refused: their singular values alone would take minutes.
const MOST_PIXELS: usize = 1 << 22;
/// A PNG above this many bytes makes the figure smaller.
const LARGE: usize = 150_000;

/// A grey picture, row by row, from 0 (black) to 1 (white).
#[derive(Debug, Clone, PartialEq)]
pub struct Grey {
    /// What it is called.
    pub name: String,
    /// Whether it was drawn by this program.
    pub is_drawn: bool,
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

impl Grey {
    /// The luminance of a picture in a file, which must be of this rank at least.
    pub fn read(path: &Path, rank: usize) -> Result<Self> {
        let file = path.display();
        let Source::Picture(picture) = katoms_io::read(path, &ReadOptions::default())? else {
            bail!("{file}: this is no picture; name a PNG or JPEG")
        };
        let (rows, columns) = (picture.rows, picture.columns);
        let size = format!("{file}: a picture of {rows} × {columns} pixels");
        if rows.min(columns) < rank {
            bail!("{size} has no rank {rank}; name one with at least {rank} rows and columns, or set a smaller `rank`");
        }
        if rows * columns > MOST_PIXELS {
            bail!("{size} is too large; scale it to {MOST_PIXELS} pixels or fewer");
        }
        let unseen = picture.seen.iter().filter(|seen| !**seen).count();
        if unseen > 0 {
            bail!(
                "{file}: {unseen} of its pixels are transparent, and their values unknown; save it without transparency"
            );
        }
        let values: Vec<f64> = match picture.channels.as_slice() {
            [red, green, blue] => {
                let luminance = |i: usize| LUMA[0] * red[i] + LUMA[1] * green[i] + LUMA[2] * blue[i];
                (0..rows * columns).map(luminance).collect()
            }
            [grey] => grey.clone(),
            _ => bail!("{file}: a picture has 1 or 3 channels"),
        };
        if values.iter().all(|v| *v == 0.0) {
            bail!("{file}: every pixel is black, so there is nothing to recover; name another picture");
        }
        let name = path.file_stem().map_or_else(|| "picture".into(), |stem| stem.to_string_lossy().into_owned());
        Ok(Self { name, is_drawn: false, rows, columns, values })
    }

    /// A picture drawn by code: a gradient, hills, discs and rings with soft edges, stripes and a little grain, so that
    /// its singular values fall by decades as a photograph's do. The same every time.
    pub fn drawn(rows: usize, columns: usize) -> Self {
        let grain = simulate::normals(rows * columns, &mut simulate::generator(0, 0));
        let shade = |i: usize, j: usize| {
            let (y, x) = ((i as f64 + 0.5) / rows as f64, (j as f64 + 0.5) / rows as f64);
            (scene(y, x) + 0.01 * grain[i * columns + j]).clamp(0.0, 1.0)
        };
        let values = (0..rows * columns).map(|at| shade(at / columns, at % columns)).collect();
        Self { name: "drawn".into(), is_drawn: true, rows, columns, values }
    }

    /// The same with other values.
    pub fn with(&self, values: Vec<f64>) -> Self {
        Self { values, ..self.clone() }
    }

    /// A point as a picture of this size.
    pub fn showing(&self, x: &LowRank) -> Self {
        let dense = x.left().times(x.core()).times_transposed(x.right());
        self.with((0..self.values.len()).map(|at| dense.at(at / self.columns, at % self.columns)).collect())
    }

    /// As a matrix.
    pub fn matrix(&self) -> Matrix {
        Matrix::from_fn(self.rows, self.columns, |i, j| self.values[i * self.columns + j])
    }

    /// Half as many rows and columns: means of four pixels, or every second pixel where `picks`.
    fn halved(&self, picks: bool) -> Self {
        let (rows, columns) = (self.rows / 2, self.columns / 2);
        let at = |i: usize, j: usize| self.values[i * self.columns + j];
        let pixel = |i: usize, j: usize| match picks {
            true => at(i, j),
            false => 0.25 * (at(i, j) + at(i, j + 1) + at(i + 1, j) + at(i + 1, j + 1)),
        };
        let values = (0..rows * columns).map(|p| pixel(2 * (p / columns), 2 * (p % columns))).collect();
        Self { rows, columns, values, ..self.clone() }
    }

    fn png(&self) -> Result<Vec<u8>> {
        let seen = vec![true; self.values.len()];
        let picture =
            katoms_io::Picture { rows: self.rows, columns: self.columns, channels: vec![self.values.clone()], seen };
        Ok(write_png(&picture)?)
    }
}

/// Brightness at a height y from 0 (top) to 1 and a place x from 0 rightwards, in the same unit.
fn scene(y: f64, x: f64) -> f64 {
    // 1 inside, 0 outside of where `d` is negative; the edge is soft.
    let inside = |d: f64| 1.0 / (1.0 + (d / 0.002).clamp(-40.0, 40.0).exp());
    let mix = |share: f64, under: f64, over: f64| under + share * (over - under);
    let mut v = 0.8 - 0.3 * y + 0.06 * (2.1 * x + 0.5).sin();
    let ridge = 0.55 + 0.08 * (4.0 * x).sin() + 0.03 * (11.0 * x + 1.0).sin();
    let field = 0.42 + 0.10 * (60.0 * y + 5.0 * (3.0 * x).sin()).sin() + 0.05 * (47.0 * x - 38.0 * y).sin();
    v = mix(inside(ridge - y), v, field);
    for (cy, cx, radius, shade) in
        [(0.22, 0.25, 0.11, 0.97), (0.30, 1.10, 0.16, 0.30), (0.72, 0.48, 0.13, 0.70), (0.80, 0.98, 0.10, 0.15)]
    {
        let r = (y - cy).hypot(x - cx);
        v = mix(inside(r - radius), v, shade - 0.25 * (y - cy) / radius);
    }
    for (cy, cx, radius) in [(0.66, 0.20, 0.17), (0.70, 1.24, 0.20), (0.45, 0.78, 0.14)] {
        let (r, angle) = ((y - cy).hypot(x - cx), (y - cy).atan2(x - cx));
        v = mix(inside((r - radius).abs() - 0.012), v, 0.08);
        // Spokes: as wide at the hub as at the rim.
        v = mix(inside((12.0 * angle).sin().abs() * r / 12.0 - 0.003) * inside(r - radius), v, 0.9);
    }
    let along = 0.9 * y - 0.43 * (x - 0.6);
    let bar = inside((along - 0.35).abs() - 0.03);
    mix(bar, v, 0.55 + 0.35 * (160.0 * (0.43 * y + 0.9 * x)).sin())
}

/// Pictures of one size, packed for a figure, halved where they are large. Those of which most pixels are missing (`true`)
/// are halved by leaving pixels out.
pub fn packed(pictures: &[(Grey, bool)]) -> Result<Vec<Picture>> {
    let pack = |halve: bool| {
        let one = |(grey, picks): &(Grey, bool)| {
            let grey = if halve { grey.halved(*picks) } else { grey.clone() };
            Ok((grey.columns, grey.rows, grey.png()?))
        };
        pictures.iter().map(one).collect::<Result<Vec<_>>>()
    };
    let mut all = pack(false)?;
    if all.iter().any(|(_, _, bytes)| bytes.len() > LARGE) {
        all = pack(true)?;
    }
    let picture = |(width, height, bytes)| Picture { width, height, png: STANDARD.encode::<Vec<u8>>(bytes) };
    Ok(all.into_iter().map(picture).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(folder: &Path, name: &str, bytes: &[u8], rank: usize) -> String {
        std::fs::write(folder.join(name), bytes).unwrap();
        let said = Grey::read(&folder.join(name), rank).unwrap_err().to_string();
        assert!(said.contains(name), "{said}");
        said
    }

    fn png(channels: Vec<Vec<f64>>, seen: Vec<bool>, rows: usize) -> Vec<u8> {
        let columns = seen.len() / rows;
        write_png(&katoms_io::Picture { rows, columns, channels, seen }).unwrap()
    }

    #[test]
    fn colours_become_luminance() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("colour.png");
        std::fs::write(&path, png(vec![vec![1.0; 4], vec![0.0; 4], vec![0.2; 4]], vec![true; 4], 2)).unwrap();
        let grey = Grey::read(&path, 2).unwrap();
        assert!(grey.values.iter().all(|v| (v - 0.3218).abs() < 1e-12), "{grey:?}");
        assert_eq!((grey.name.as_str(), grey.is_drawn, grey.rows, grey.columns), ("colour", false, 2, 2));
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes, rank, reason) in [
            ("one.png", png(vec![vec![0.5]], vec![true], 1), 5, "1 × 1 pixels has no rank 5"),
            (
                "clear.png",
                png(vec![vec![0.5; 4]], vec![true, false, true, true], 2),
                1,
                "1 of its pixels are transparent",
            ),
            ("black.png", png(vec![vec![0.0; 4]], vec![true; 4], 2), 1, "every pixel is black"),
            ("table.csv", b"a,b\n1,2\n".to_vec(), 1, "no picture"),
            ("cut.png", Grey::drawn(20, 30).png().unwrap()[..40].to_vec(), 1, "cut.png"),
        ] {
            let said = refusal(folder.path(), name, &bytes, rank);
            assert!(said.contains(reason), "{said}");
        }
    }

    #[test]
    fn the_drawn_picture_falls_by_decades_and_is_the_same_again() {
        let picture = Grey::drawn(96, 144);
        assert_eq!(picture, Grey::drawn(96, 144));
        assert!(picture.values.iter().all(|v| (0.0..=1.0).contains(v)));
        let (_, values, _) = picture.matrix().svd().unwrap();
        let share = |at: usize| values[at] / values[0];
        assert!(share(30) < 1.0 / 30.0 && share(90) < 1.0 / 300.0, "{} {}", share(30), share(90));
        // Not so fast that a few directions hold it all.
        assert!(share(5) > 0.01, "{}", share(5));
    }

    #[test]
    fn a_large_picture_is_halved() {
        let noise = simulate::normals(512 * 512, &mut simulate::generator(1, 0));
        let large = Grey { name: "n".into(), is_drawn: true, rows: 512, columns: 512, values: noise };
        let halved = packed(&[(large.clone(), false), (large.clone(), true)]).unwrap();
        assert!(halved.iter().all(|p| (p.width, p.height) == (256, 256)));
        assert_eq!(large.halved(true).values[1], large.values[2]);
        let whole = packed(&[(Grey::drawn(20, 31), false)]).unwrap();
        assert_eq!((whole[0].width, whole[0].height), (31, 20));
        assert!(STANDARD.decode(&whole[0].png).unwrap().starts_with(b"\x89PNG"));
    }
}
