//! The words of a drawing: text, tones, and how wide letters are.
//!
//! Written by hand, not by a plotting crate: marks carry classes, so the page's style sheet colours them in both
//! themes, and each has a title to hover over. Crates we tried paint in fixed colours and round to whole pixels.

use std::borrow::Cow;
use std::fmt::Write;

use minijinja::HtmlEscape;

use crate::text::visible;

/// The size of letters in a drawing, in its own units.
pub const LETTER: f64 = 12.0;

/// What a colour means, throughout the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The model: its effects that raise the prediction, its errors, its curve.
    Model,
    /// What lowers the prediction.
    Lowering,
    /// What was chosen.
    Chosen,
    /// What else could have been chosen.
    Other,
    /// Akaike's criterion.
    Aic,
    /// The Bayesian criterion.
    Bic,
    /// The extended Bayesian criterion.
    Ebic,
    /// The generalised criterion.
    Gic,
    /// What only helps to read: a diagonal, a mean.
    Guide,
    /// One of the inks that a drawing brings along, by its number.
    Ink(usize),
}

impl Tone {
    /// The class that the style sheet knows.
    pub fn class(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Model => "t-model",
            Self::Lowering => "t-lowering",
            Self::Chosen => "t-chosen",
            Self::Other => "t-other",
            Self::Aic => "t-aic",
            Self::Bic => "t-bic",
            Self::Ebic => "t-ebic",
            Self::Gic => "t-gic",
            Self::Guide => "t-guide",
            Self::Ink(number) => return Cow::Owned(format!("i{number}")),
        })
    }
}

/// Where a text stands from its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// To the right.
    Start,
    /// Around it.
    Middle,
    /// To the left.
    End,
}

/// A drawing of some width and height, marks in order.
#[derive(Debug)]
pub struct Drawing {
    width: f64,
    label: String,
    body: String,
}

impl Drawing {
    /// An empty one; the label is what a screen reader says.
    pub fn new(width: f64, label: &str) -> Self {
        Self { width, label: label.into(), body: String::new() }
    }

    /// Ends the drawing at some height.
    pub fn finish(self, height: f64) -> String {
        let (label, width, height) = (escaped(&self.label), number(self.width), number(height));
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\" \
             xmlns=\"http://www.w3.org/2000/svg\">{}</svg>",
            self.body
        )
    }

    /// Ends a drawing that is a file of its own: with an id, a size, and its style and description at its head.
    pub fn finish_alone(self, height: f64, id: &str, head: &str) -> String {
        let (label, width, height) = (escaped(&self.label), number(self.width), number(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"{id}\" width=\"{width}\" height=\"{height}\" \
             style=\"max-width:{width}px\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">{head}{}</svg>",
            self.body
        )
    }

    /// A text whose baseline is at the point. The class may be empty.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (number(at.0), number(at.1));
        let class = attribute("class", class);
        let _ = write!(self.body, "<text x=\"{x}\" y=\"{y}\"{anchor}{class}>{}</text>", escaped(text));
    }

    /// A straight line.
    pub fn rule(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        self.path(class, &format!("M{} {}L{} {}", number(from.0), number(from.1), number(to.0), number(to.1)), "");
    }

    /// A path, with what is said when hovered over.
    pub fn path(&mut self, class: &str, path: &str, title: &str) {
        let class = attribute("class", class);
        if title.is_empty() {
            let _ = write!(self.body, "<path{class} d=\"{path}\"/>");
        } else {
            let _ = write!(self.body, "<path{class} d=\"{path}\"><title>{}</title></path>", escaped(title));
        }
    }

    /// A box, with what is said when hovered over.
    pub fn rectangle(&mut self, at: (f64, f64), size: (f64, f64), class: &str, title: &str) {
        let (x, y) = at;
        self.path(class, &format!("M{} {}h{}v{}h-{2}z", number(x), number(y), number(size.0), number(size.1)), title);
    }

    /// Draws with the origin moved.
    pub fn shifted<T>(&mut self, by: (f64, f64), draw: impl FnOnce(&mut Self) -> T) -> T {
        let _ = write!(self.body, "<g transform=\"translate({} {})\">", number(by.0), number(by.1));
        let drawn = draw(self);
        self.body.push_str("</g>");
        drawn
    }

    /// What is drawn elsewhere.
    pub fn append(&mut self, marks: &str) {
        self.body.push_str(marks);
    }
}

/// A text that is no markup, in HTML as in XML, shown as on a terminal: what XML forbids even when escaped is left out.
pub fn escaped(text: &str) -> String {
    let allowed = |c: &char| matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    HtmlEscape(&visible(text).chars().filter(allowed).collect::<String>()).to_string()
}

fn attribute(name: &str, value: &str) -> String {
    if value.is_empty() { String::new() } else { format!(" {name}=\"{value}\"") }
}

/// A coordinate, to a hundredth.
pub fn number(value: f64) -> String {
    let hundredths = (value * 100.0).round() / 100.0;
    // −0 is 0.
    format!("{}", hundredths + 0.0)
}

/// About how wide a text is, in letters of the usual size. No font is at hand: the letters are those of DejaVu
/// Sans, which is wider than most.
pub fn text_width(text: &str) -> f64 {
    text.chars().map(letter_width).sum::<f64>() * LETTER
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        '<' | '>' | '=' | '+' | '~' | '×' | '±' | '−' | '…' => 0.86,
        'A'..='Z' => 0.74,
        // Wide scripts: about a square.
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' => 1.05,
        '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}' => 1.3,
        _ => 0.64,
    }
}

/// The text if it fits, else its beginning and its end: names of a family tend to differ at the end.
pub fn shortened(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.into();
    }
    let letters: Vec<char> = text.chars().collect();
    let room = room / LETTER - letter_width('…');
    let take = |letters: &mut dyn Iterator<Item = &char>, room: f64| {
        let mut used = 0.0;
        letters
            .take_while(|&&c| {
                used += letter_width(c);
                used <= room
            })
            .count()
    };
    let head = take(&mut letters.iter(), room * 0.6);
    let tail = take(&mut letters[head..].iter().rev(), room * 0.4);
    let (head, tail) = (&letters[..head], &letters[letters.len() - tail..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

/// The text in lines of at most this width, broken between words; a word that is longer is shortened.
pub fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line) + text_width(" ") + text_width(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shortened(word, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        let name = "mean_expression_of_probe_000123";
        assert_eq!(shortened(name, 1000.0), name);
        let short = shortened(name, 100.0);
        assert!(short.starts_with("mean") && short.ends_with("123") && short.contains('…'), "{short}");
        assert!(text_width(&short) <= 100.0);
        for room in 0..40 {
            assert!(shortened("Größe der Fläche", f64::from(room)).contains('…'));
        }
    }

    #[test]
    fn long_texts_break_between_words() {
        let text = "the training log-likelihood of the held-out rows";
        let lines = wrapped(text, 150.0);
        assert!(lines.len() > 1 && lines.iter().all(|l| text_width(l) <= 150.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrapped(text, 1000.0), [text]);
        assert!(wrapped("", 100.0).is_empty());
    }

    #[test]
    fn what_a_user_writes_is_no_markup() {
        let mut drawing = Drawing::new(10.0, "\"><script>");
        drawing.text((0.0, 0.0), Anchor::End, "", "<b>&");
        drawing.rectangle((1.0, 2.0), (3.0, 4.0), "bar", "</title>");
        let svg = drawing.finish(5.0);
        assert!(!svg.contains("<script>") && !svg.contains("<b>") && !svg.contains("></title></title>"), "{svg}");
        assert!(svg.contains("M1 2h3v4h-3z"), "{svg}");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([number(-0.001), number(1.0), number(2.346)], ["0", "1", "2.35"]);
    }
}
