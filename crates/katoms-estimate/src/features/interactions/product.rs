//! Products of columns of a design.

use std::collections::{BTreeMap, BTreeSet};

use katoms::Error;
use katoms::operator::{AnyDesign, Beside, Dense, LinearOperator};
use katoms::select::Validated;
use katoms::space::SparseVec;

/// The product of two features; of two groups all products of a column of the one and a column of the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Product {
    /// The two columns of each.
    pub factors: Vec<[usize; 2]>,
}

/// What was found, with the products that its models have: their columns follow those of the design.
#[derive(Debug, Clone)]
pub struct WithProducts<T> {
    /// What was found.
    pub found: T,
    /// The products, in the order of their columns.
    pub products: Vec<Product>,
}

impl Product {
    /// Their columns, one after the other.
    ///
    /// # Errors
    /// When a product leaves the range of double precision.
    pub fn columns(products: &[Self], design: &AnyDesign<'_>) -> Result<Vec<f64>, Error> {
        let mut columns = Vec::new();
        let mut known: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for [i, j] in products.iter().flat_map(|product| product.factors.iter().copied()) {
            let mut of = |j: usize| known.entry(j).or_insert_with(|| column(design, j)).clone();
            let (left, right) = (of(i), of(j));
            columns.extend(multiplied(&left, &right, (i, j))?);
        }
        Ok(columns)
    }

    /// The design with the columns of some products behind its own.
    ///
    /// # Errors
    /// When a product leaves the range of double precision.
    pub fn beside<'a>(products: &[Self], design: AnyDesign<'a>) -> Result<AnyDesign<'a>, Error> {
        if products.is_empty() {
            return Ok(design);
        }
        let (columns, rows) = (Self::columns(products, &design)?, design.n_outputs());
        let count = products.iter().map(|product| product.factors.len()).sum();
        Ok(Beside::new(design, Dense::column_major(columns, rows, count)?)?.into())
    }
}

impl WithProducts<Validated> {
    /// Cross-validations of one design of so many columns with the same products.
    pub fn aligned(all: Vec<Self>, columns: usize) -> (Vec<Validated>, Vec<Product>) {
        let products: BTreeSet<Product> = all.iter().flat_map(|one| one.products.iter().cloned()).collect();
        let products: Vec<Product> = products.into_iter().collect();
        let width = |products: &[Product]| columns + products.iter().map(|p| p.factors.len()).sum::<usize>();
        let (places, to) = (places_of(&products, columns), width(&products));
        let one = |Self { found: mut validated, products }: Self| {
            let pairs: Vec<[usize; 2]> = products.iter().flat_map(|product| product.factors.iter().copied()).collect();
            let place = |j: usize| if j < columns { Some(j) } else { places.get(&pairs[j - columns]).copied() };
            let from = width(&products);
            let wide = |x: &SparseVec, outputs: usize| moved(x, from, to, outputs, place);
            for score in validated.scores.iter_mut().chain([&mut validated.null]) {
                for model in &mut score.models {
                    model.coefficients = wide(&model.coefficients, model.intercepts.len());
                }
            }
            for model in &mut validated.models {
                model.coefficients = wide(&model.coefficients, model.intercepts.len());
            }
            validated
        };
        (all.into_iter().map(one).collect(), products)
    }
}

pub(super) fn column(design: &AnyDesign<'_>, j: usize) -> Vec<f64> {
    let mut out = vec![0.0; design.n_outputs()];
    if let Ok(unit) = SparseVec::new(design.domain(), vec![j], vec![1.0]) {
        design.apply(&unit, &mut out);
    }
    out
}

pub(super) fn multiplied(left: &[f64], right: &[f64], (i, j): (usize, usize)) -> Result<Vec<f64>, Error> {
    let product: Vec<f64> = left.iter().zip(right).map(|(a, b)| a * b).collect();
    match product.iter().find(|v| !v.is_finite()) {
        None => Ok(product),
        Some(&value) => Err(Error::Magnitude {
            what: format!("the product of columns {i} and {j} (counted from 0)"),
            column: None,
            value,
            right: "products must be numbers of double precision: divide one of the columns by a power of ten".into(),
        }),
    }
}

/// The first column of each product, by its factors; those of one product follow each other.
pub(super) fn places_of(products: &[Product], columns: usize) -> BTreeMap<[usize; 2], usize> {
    products.iter().flat_map(|product| product.factors.iter().copied()).zip(columns..).collect()
}

/// Coefficients of some columns at other places among `to`, output by output.
pub(super) fn moved(
    x: &SparseVec,
    from: usize,
    to: usize,
    outputs: usize,
    place: impl Fn(usize) -> Option<usize>,
) -> SparseVec {
    let at = |(j, value): (usize, f64)| place(j % from).map(|place| (j / from * to + place, value));
    let mut entries: Vec<(usize, f64)> = x.entries().filter_map(at).collect();
    entries.sort_by_key(|entry| entry.0);
    let (indices, values) = entries.into_iter().unzip();
    SparseVec::new(to * outputs, indices, values).unwrap_or_else(|_| SparseVec::from_dense(&vec![0.0; to * outputs]))
}
