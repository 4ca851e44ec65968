//! The report: one HTML file with a section for each experiment.

use katoms_paper::Section;

/// The page, from the sections alone: the same sections give the same bytes.
pub fn page(sections: &[Section]) -> String {
    sections.iter().map(|s| format!("<h2>{}</h2>", s.title)).collect()
}
