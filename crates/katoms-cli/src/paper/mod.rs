//! Sections of the paper's report, drawn: figures as SVG and PNG, and the page that holds them all.

mod drawing;
mod page;
mod raster;
#[cfg(test)]
mod samples;

pub use drawing::draw;
pub use page::{MARK, page};
pub use raster::png;
