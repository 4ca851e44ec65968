//! What is completed: entries, cells or pixels.

mod colour;
mod entries;
mod hide;
mod layout;
mod read;
mod roles;
mod write;

pub use colour::Colour;
pub use entries::Meant;
use read::infinite;

use anyhow::Result;
use clap::ValueEnum;
use katoms_estimate::{CompletedMatrix, Observed};
use katoms_io::Column;

use crate::terminal::count;

/// What a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A row, a column and a value on each line
    Entries,
    /// A value in each cell, some of them empty
    #[value(alias = "cells")]
    Table,
}

/// A matrix of which some entries are known; a colour picture is three of them side by side.
#[derive(Debug)]
pub struct Grid {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    shape: (usize, usize),
    names: Names,
    is_sparse: bool,
    /// The channels of a picture: so many matrices side by side.
    channels: usize,
    hidden: Vec<(usize, usize, f64)>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone)]
enum Names {
    Entries { head: String, rows: Vec<String>, columns: Vec<String> },
    Table { slots: Vec<Slot>, rows: Option<Vec<String>> },
    None,
}

#[derive(Debug, Clone)]
enum Slot {
    Cells(String),
    Carried(Column),
}

#[derive(Debug, Clone, Copy)]
pub struct HiddenError {
    pub rmse: f64,
    pub psnr: Option<f64>,
}

impl Grid {
    fn picture_size(&self) -> (usize, usize) {
        (self.shape.0, self.shape.1 / self.channels.max(1))
    }

    /// The matrices that stand side by side; 0 where it is no picture.
    pub fn channels(&self) -> usize {
        self.channels
    }

    pub fn is_picture(&self) -> bool {
        self.channels > 0
    }

    pub fn is_table(&self) -> bool {
        !self.is_sparse && !self.is_picture()
    }

    pub fn is_sparse(&self) -> bool {
        self.is_sparse
    }

    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    pub fn seen(&self) -> usize {
        self.values.len()
    }

    pub fn observed(&self) -> Result<Observed> {
        Ok(Observed::new(self.shape, &self.rows, &self.columns, &self.values)?)
    }

    pub fn noting(mut self, repeated: usize) -> Self {
        if repeated > 0 {
            let entries = count(repeated, "entry repeats", "entries repeat");
            self.notes
                .push(format!("{entries} the place of another one; a place counts once, with the mean of its values"));
        }
        self
    }

    pub fn title(&self, rank: usize) -> String {
        let share = 100.0 * self.values.len() as f64 / (self.shape.0 * self.shape.1).max(1) as f64;
        let (height, width) = self.picture_size();
        match self.channels {
            0 => format!("a matrix of rank {rank}: {} × {}, {share:.1} % of it seen", self.shape.0, self.shape.1),
            _ => format!("a picture of rank {rank}: {width} × {height} pixels, {share:.1} % of them seen"),
        }
    }

    /// How far the completed matrix is from what was hidden; `None` where nothing was.
    pub fn hidden_error(&self, matrix: &CompletedMatrix) -> Option<HiddenError> {
        if self.hidden.is_empty() {
            return None;
        }
        let square = |rows: &[usize], columns: &[usize], truth: &[f64]| -> Option<f64> {
            let predicted = matrix.predict(rows, columns).ok()?;
            let places = predicted.iter().zip(truth).zip(columns);
            Some(places.map(|((a, b), &j)| ((a - b) / matrix.scales[j]).powi(2)).sum())
        };
        let ((rows, columns), truth): ((Vec<usize>, Vec<usize>), Vec<f64>) =
            self.hidden.iter().map(|e| ((e.0, e.1), e.2)).unzip();
        let hidden = square(&rows, &columns, &truth)?;
        let seen = square(&self.rows, &self.columns, &self.values)?;
        let mean = (hidden + seen) / (self.hidden.len() + self.values.len()) as f64;
        let psnr = (self.channels > 0 && mean > 0.0).then(|| -10.0 * mean.log10());
        Some(HiddenError { rmse: (hidden / self.hidden.len() as f64).sqrt(), psnr })
    }
}
