//! Whether the first line of a text table names the columns of a pivot: `user,1,2,3`, as pandas writes one.

use csv::ByteRecord;

/// Whether what stands to the right of the first field are names though they are whole numbers: they rise, and the
/// first field is a word above numbers, or is empty above labels of which each stands there once.
pub(super) fn names_columns(first: &ByteRecord, others: &[ByteRecord]) -> bool {
    let mut fields = first.iter().map(<[u8]>::trim_ascii);
    let Some(corner) = fields.next() else { return false };
    let names: Option<Vec<u64>> = fields.map(whole).collect();
    if !names.is_some_and(|names| names.len() > 1 && names.is_sorted_by(|a, b| a < b)) {
        return false;
    }
    let below: Vec<&[u8]> = others.iter().filter_map(|record| record.get(0)).map(<[u8]>::trim_ascii).collect();
    if corner.is_empty() {
        let mut labels = below.clone();
        labels.sort_unstable();
        labels.dedup();
        return labels.len() == below.len() && !below.is_empty() && below.iter().all(|label| !label.is_empty());
    }
    let is_number = |text: &[u8]| fast_float2::parse::<f64, _>(text).is_ok();
    !is_number(corner) && !below.is_empty() && below.iter().all(|label| is_number(label))
}

fn whole(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_pivot() {
        for (text, expected) in [
            ("user,1,2,3\n1,5,,3\n2,,4,1\n", true),
            (",10,20\n0,5,\n1,,4\n", true),
            (",10,20\nann,5,\nbob,,4\n", true),
            // values: a label comes repeatedly, numbers do not rise, a word above words, fractions
            (",10,20\nann,5,\nann,,4\n", false),
            ("user,3,2\n1,5,4\n", false),
            ("ann,1,2\nbob,5,4\n", false),
            ("user,1.5,2\n1,5,4\n", false),
            ("1,2,3\n4,5,6\n", false),
            ("user,1\n1,5\n", false),
            (",1,2\n", false),
        ] {
            let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
            let records: Vec<ByteRecord> = reader.into_byte_records().map(Result::unwrap).collect();
            assert_eq!(names_columns(&records[0], &records[1..]), expected, "{text}");
        }
    }
}
