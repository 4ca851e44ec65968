//! A figure as SVG that stands alone: its colours and letters are its own.

use katoms_paper::figure::Figure;

/// The figure as an SVG file.
pub fn draw(figure: &Figure) -> String {
    format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 10 10\"><title>{}</title></svg>", figure.title)
}
