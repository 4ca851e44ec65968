//! Models by the names of their columns.

use std::collections::{BTreeMap, BTreeSet};

use katoms::Error;
use katoms::operator::{AnyDesign, Dense, LinearOperator};
use katoms::space::SparseVec;

use super::super::{Features, predictions};
use super::pool::Column;
use super::product::{column, multiplied, places_of};
use super::{Interactions, Product};

/// A model whose coefficients are those of named columns, in the units of the data.
#[derive(Debug, Clone)]
pub(super) struct Labelled {
    /// Output, column, coefficient.
    pub(super) entries: Vec<(usize, Column, f64)>,
    pub(super) products: Vec<Product>,
    pub(super) intercepts: Vec<f64>,
}

impl Labelled {
    /// Linear predictions for some rows, in the units that are computed with.
    pub(super) fn predictions(&self, features: &Features<'_>, rows: Vec<usize>) -> Result<Vec<f64>, Error> {
        let mut known: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut used: Vec<Column> = Vec::new();
        for (_, column, _) in &self.entries {
            if !used.contains(column) {
                used.push(*column);
            }
        }
        let mut data = Vec::new();
        for one in &used {
            let mut of = |j: usize| known.entry(j).or_insert_with(|| column(features.design, j)).clone();
            let all = match *one {
                Column::Feature(j) => of(j),
                Column::Product([i, j]) => multiplied(&of(i), &of(j), (i, j))?,
            };
            data.extend(rows.iter().map(|&row| all[row]));
        }
        if used.is_empty() {
            used.push(Column::Feature(0));
            data = vec![0.0; rows.len()];
        }
        let columns = used.len();
        let place = |wanted: &Column| used.iter().position(|column| column == wanted).unwrap_or(0);
        let mut entries: Vec<(usize, f64)> =
            self.entries.iter().map(|(output, column, value)| (output * columns + place(column), *value)).collect();
        entries.sort_by_key(|entry| entry.0);
        let (indices, values) = entries.into_iter().unzip();
        let x = SparseVec::new(columns * self.intercepts.len(), indices, values)?;
        let design: AnyDesign<'_> = Dense::column_major(data, rows.len(), columns)?.into();
        let narrow = Features { design: &design, ..features.clone() };
        let (x, constants) = features.units.scaled_model(&(x, self.intercepts.clone()))?;
        let (x, constants) = narrow.contrasted(&x, &constants)?;
        Ok(predictions(&design, &x, &constants))
    }
}

impl Interactions<'_, '_> {
    /// Models as coefficients of the design with the columns of their products, and these.
    pub(super) fn joined(&self, models: Vec<Labelled>) -> (Vec<(SparseVec, Vec<f64>)>, Vec<Product>) {
        let products: BTreeSet<Product> = models.iter().flat_map(|model| model.products.iter().cloned()).collect();
        let products: Vec<Product> = products.into_iter().collect();
        let columns = self.features.design.domain();
        let all = columns + products.iter().map(|product| product.factors.len()).sum::<usize>();
        let places = places_of(&products, columns);
        let one = |model: Labelled| {
            let place = |column: &Column| match column {
                Column::Feature(j) => *j,
                Column::Product(pair) => places[pair],
            };
            let mut entries: Vec<(usize, f64)> =
                model.entries.iter().map(|(output, column, value)| (output * all + place(column), *value)).collect();
            entries.sort_by_key(|entry| entry.0);
            let (indices, values) = entries.into_iter().unzip();
            let x = SparseVec::new(all * model.intercepts.len(), indices, values);
            (x.unwrap_or_else(|_| SparseVec::from_dense(&[])), model.intercepts)
        };
        (models.into_iter().map(one).collect(), products)
    }
}
