//! What is taken away before the work: under a mask, or at random to compare with.

use std::path::Path;

use anyhow::{Result, bail};
use katoms::simulate;
use katoms_io::{ReadOptions, Source};

use super::Grid;

impl Grid {
    /// The same without the pixels that are transparent or black in another picture.
    pub fn masked(self, mask: &Path) -> Result<Self> {
        if !self.is_picture() {
            bail!("--mask goes with a picture (PNG, JPEG); leave the cells of a table empty that are missing");
        }
        let Source::Picture(picture) = katoms_io::read(mask, &ReadOptions::default())? else {
            bail!("{}: the mask must be a picture (PNG), white where a pixel is seen", mask.display());
        };
        let (height, width) = self.picture_size();
        if (picture.rows, picture.columns) != (height, width) {
            bail!(
                "{}: the mask has {} × {} pixels, the picture {height} × {width}; they must agree",
                mask.display(),
                picture.rows,
                picture.columns
            );
        }
        // Where a mask has transparent pixels, they are what is missing, whatever the colour of the others.
        let by_transparency = picture.seen.iter().any(|seen| !seen);
        let is_light = |pixel: usize| picture.channels.iter().any(|channel| channel[pixel] >= 0.5);
        let is_seen = |pixel: usize| if by_transparency { picture.seen[pixel] } else { is_light(pixel) };
        // What lies under a mask is no truth to compare with: often it is paint.
        Ok(self.parted(|_, i, j| is_seen(i * width + j % width)).0)
    }

    /// The same without all but this share of what is there, which is kept to compare with.
    pub fn hiding(self, share: f64, seed: u64) -> Result<Self> {
        let (height, width) = self.picture_size();
        // The pixels of a picture lie densely; of any other matrix only the entries count.
        let places = if self.is_picture() { height * width } else { self.values.len() };
        let mut seen = vec![false; places];
        simulate::observed_places(1, places, share, seed).1.iter().for_each(|&place| seen[place] = true);
        let is_picture = self.is_picture();
        let (grid, hidden) = self.parted(|e, i, j| seen[if is_picture { i * width + j % width } else { e }]);
        if grid.values.is_empty() {
            bail!("--observed leaves nothing; give a larger share");
        }
        Ok(Self { hidden, ..grid })
    }

    /// What passes a test of entry, row and column, and the rest. The pixels of a colour picture are seen or hidden as
    /// one.
    fn parted(mut self, test: impl Fn(usize, usize, usize) -> bool) -> (Self, Vec<(usize, usize, f64)>) {
        let (mut seen, mut hidden) = (Vec::new(), Vec::new());
        for (e, ((&i, &j), &v)) in self.rows.iter().zip(&self.columns).zip(&self.values).enumerate() {
            if test(e, i, j) { &mut seen } else { &mut hidden }.push((i, j, v));
        }
        self.rows = seen.iter().map(|e| e.0).collect();
        self.columns = seen.iter().map(|e| e.1).collect();
        self.values = seen.iter().map(|e| e.2).collect();
        (self, hidden)
    }
}
