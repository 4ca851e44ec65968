//! Whether the first line of a text table names the columns of a pivot: `user,1,2,3`, as pandas writes one.

use csv::ByteRecord;

/// So many values rise by chance in one of 120 rows.
const MANY: usize = 5;

/// Whether what stands to the right of the first field are names though they are whole numbers: they rise, and the
/// first field is a word above numbers, or is empty above labels of which each stands there once. Above such labels it may
/// be a word too where many numbers rise, and no row below does.
pub(super) fn names_columns(first: &ByteRecord, others: &[ByteRecord]) -> bool {
    let mut fields = first.iter().map(<[u8]>::trim_ascii);
    let Some(corner) = fields.next() else { return false };
    let Some(count) = rising(fields).filter(|&count| count > 1) else { return false };
    let below: Vec<&[u8]> = others.iter().filter_map(|record| record.get(0)).map(<[u8]>::trim_ascii).collect();
    let mut labels = below.clone();
    labels.sort_unstable();
    labels.dedup();
    let are_labels = labels.len() == below.len() && below.iter().all(|label| !label.is_empty());
    let is_number = |text: &[u8]| fast_float2::parse::<f64, _>(text).is_ok();
    let of = |record: &ByteRecord| rising(record.iter().skip(1).map(<[u8]>::trim_ascii)).is_some();
    match below.is_empty() {
        true => false,
        false if corner.is_empty() => are_labels,
        false if is_number(corner) => false,
        false => below.iter().all(|label| is_number(label)) || are_labels && count >= MANY && !others.iter().any(of),
    }
}

/// How many fields there are, where they are whole numbers that rise.
fn rising<'f>(fields: impl Iterator<Item = &'f [u8]>) -> Option<usize> {
    let numbers: Vec<u64> = fields.map(whole).collect::<Option<_>>()?;
    numbers.is_sorted_by(|a, b| a < b).then_some(numbers.len())
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
            ("name,1,2,3,4,5\nann,5,,4,4,1\nbob,,4,1,1,2\n", true),
            ("ann,1,2,3,4,5\nbob,1,2,3,5,6\n", false),
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
