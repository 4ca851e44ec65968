//! An SVG as PNG. The letters are DejaVu's, which the program brings along: no font of the machine is needed.

use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// The family of all letters.
const FAMILY: &str = "DejaVu Sans";

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family(FAMILY);
    Arc::new(fonts)
});

/// The picture of an SVG file, so many pixels for each unit.
///
/// # Errors
/// When the SVG cannot be read, or its picture would have no size or too large a one.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    let options = Options { fontdb: Arc::clone(&FONTS), font_family: FAMILY.into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).context("the figure cannot be read")?;
    let size = tree.size().to_int_size().scale_by(scale).context("the figure has no size")?;
    let mut picture = Pixmap::new(size.width(), size.height()).context("the figure is too large for a picture")?;
    picture.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().context("the figure cannot be written as PNG")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text, drawn alone.
    fn drawn(text: &str) -> Pixmap {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 40 40\">\
             <text x=\"10\" y=\"28\" font-size=\"20\">{text}</text></svg>"
        );
        Pixmap::decode_png(&png(&svg, 1.0).unwrap()).unwrap()
    }

    #[test]
    fn every_letter_that_we_use_is_in_the_font() {
        let ink = |picture: &Pixmap| picture.pixels().iter().filter(|p| p.red() < 128).count();
        assert_eq!(ink(&drawn("")), 0);
        // What the font lacks is drawn as a box.
        let lacking = drawn("\u{6f22}");
        assert!(lacking == drawn("\u{5b57}"));
        for name in "aZ0τ‖₁₂²³⁰⁹⁻−×é≥≤Φλμσαβεκ½¼√∞·–—’“”…±≈→∈ℓ*ᵀ⊤".chars()
        {
            let letter = drawn(&name.to_string());
            assert!(ink(&letter) > 0 && letter != lacking, "{name}");
        }
    }

    #[test]
    fn a_picture_has_the_size_that_was_asked_for() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 30 20\"><path d=\"M0 0h30v10h-30z\"/></svg>";
        let picture = Pixmap::decode_png(&png(svg, 2.0).unwrap()).unwrap();
        assert_eq!((picture.width(), picture.height()), (60, 40));
        let red = |x, y| picture.pixel(x, y).unwrap().red();
        assert_eq!((red(59, 19), red(0, 21)), (0, 255));
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        assert!(png("<svg", 1.0).is_err());
        assert!(png("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\"/>", 0.0).is_err());
    }
}
