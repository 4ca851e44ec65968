//! The frame of a page: its look, and a template filled.

use std::borrow::Cow;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Value, escape_formatter, value::Serde};
use serde::Serialize;

use crate::text::visible;

/// The look of all pages.
pub const STYLE: &str = include_str!("style.css");

/// A template that is part of the program, filled. What is filled in is escaped, and shown as on a terminal: no name turns
/// the direction of reading or fills the page.
pub fn fill(template: &str, page: &impl Serialize) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str().map(visible) {
        // pictures are long
        Some(Cow::Owned(text)) if !value.is_safe() && !text.starts_with("data:") => {
            escape_formatter(out, state, &Value::from(text))
        }
        _ => escape_formatter(out, state, value),
    });
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the usual delimiters"));
    // The template is part of the program, and the page holds texts, lists and nothing else: no data can break it.
    environment.render_str(template, Serde(page)).expect("a template of the program")
}
