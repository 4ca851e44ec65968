//! What is taken away before the work: under a mask, or at random to compare with.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, bail};
use katoms::simulate;
use katoms_io::{ReadOptions, Source};

use super::{Colour, Grid};

impl Grid {
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

    /// The same without the pixels that have this colour, each channel up to `tolerance` of 255 off.
    pub fn without_colour(self, colour: Colour, tolerance: u8) -> Result<Self> {
        if !self.is_picture() {
            bail!("--hole-colour goes with a picture (PNG, JPEG); leave the cells of a table empty that are missing");
        }
        let (height, width) = self.picture_size();
        let channels = if self.channels == 1 { &colour.0[..1] } else { &colour.0[..] };
        if self.channels == 1 && colour.0.iter().any(|&c| c != colour.0[0]) {
            bail!("--hole-colour is {colour}, but the picture is grey; give black, white or a grey such as '#808080'");
        }
        let mut pixels = vec![[None; 3]; height * width];
        for ((&i, &j), &v) in self.rows.iter().zip(&self.columns).zip(&self.values) {
            pixels[i * width + j % width][j / width] = Some((255.0 * v).round() as u8);
        }
        let is_near = |(seen, wanted): (&Option<u8>, &u8)| seen.is_some_and(|seen| seen.abs_diff(*wanted) <= tolerance);
        let is_hole: Vec<bool> = pixels.iter().map(|pixel| pixel.iter().zip(channels).all(is_near)).collect();
        if !is_hole.contains(&true) {
            bail!(
                "no pixel is {colour} (--hole-colour), each channel at most {tolerance} of 255 off; the most frequent \
                 colour is {}. --hole-tolerance finds colours that are near",
                most_frequent(&pixels, channels.len())
            );
        }
        Ok(self.parted(|_, i, j| !is_hole[i * width + j % width]).0)
    }

    /// Refuses what has no holes.
    pub fn check_missing(&self, path: &Path) -> Result<()> {
        let entries = self.observed()?.values().len();
        if entries < self.shape.0.saturating_mul(self.shape.1) {
            return Ok(());
        }
        let path = path.display();
        match self.channels {
            0 => bail!(
                "{path}: nothing is missing: all of the {} × {} cells have a value. Leave those empty that are to be \
                 filled, or hide some at random and see how well they are met: --observed 0.9",
                self.shape.0,
                self.shape.1
            ),
            _ => bail!(
                "{path}: nothing is missing: no pixel is transparent. Say which are to be filled: --mask FILE, a picture \
                 that is black there; --hole-colour '#ff00ff', where holes were painted in a colour; or --observed 0.35, \
                 which hides the others at random and compares"
            ),
        }
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

/// The colour that most pixels have; of several the darkest.
fn most_frequent(pixels: &[[Option<u8>; 3]], channels: usize) -> Colour {
    let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
    for pixel in pixels.iter().filter(|pixel| pixel[0].is_some()) {
        let grey = pixel[0].unwrap_or(0);
        let colour = if channels == 1 { [grey; 3] } else { pixel.map(|channel| channel.unwrap_or(0)) };
        *counts.entry(colour).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(colour, count)| (count, std::cmp::Reverse(colour)));
    Colour(most.map_or([0; 3], |(colour, _)| colour))
}
