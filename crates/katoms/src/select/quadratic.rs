//! f(x) = ½·xᵀGx − bᵀx + f(0): all that least squares needs to know about the data.
//!
//! A column of G costs a pass over the data (many columns share one); once it is known, no move along
//! it reads the data again.

/// A quadratic function of which some columns of G are known.
pub trait Quadratic: Sync {
    /// The number of coordinates.
    fn dim(&self) -> usize;
    /// b = −∇f(0).
    fn linear(&self) -> &[f64];
    /// The diagonal of G, the ridge included.
    fn diagonal(&self) -> &[f64];
    /// f(0).
    fn constant(&self) -> f64;
    /// Column j of G, the ridge included, where it is known.
    fn column(&self, j: usize) -> Option<Vec<f64>>;
}
