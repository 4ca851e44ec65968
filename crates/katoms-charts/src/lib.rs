//! Charts as SVG, pages as HTML, numbers and tables as text: data in, text out.

pub mod axis;
pub mod chart;
pub mod number;
pub mod page;
pub mod svg;
pub mod text;
