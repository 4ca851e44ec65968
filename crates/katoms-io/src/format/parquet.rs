//! Parquet and Arrow (Feather): columns of numbers, truth values, words and dates.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::arrow_column::Gathered;
use super::{bad, bad_at};
use crate::error::Error;
use crate::table::{Column, Table, Values};

/// The table of a Parquet file.
///
/// # Errors
/// When the file is cut off or damaged, or a column holds what is neither numbers nor words.
pub fn read_parquet(path: &Path, bytes: Vec<u8>) -> Result<Table, Error> {
    guarded(path, || {
        let damaged = |error: ParquetError| damaged(path, &error.to_string());
        let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).map_err(damaged)?;
        let names = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
        table(path, names, builder.build().map_err(damaged)?)
    })
}

/// The table of an Arrow file or stream.
///
/// # Errors
/// When the file is cut off or damaged, or a column holds what is neither numbers nor words.
pub fn read_arrow(path: &Path, bytes: Vec<u8>) -> Result<Table, Error> {
    guarded(path, || {
        let damaged = |error: ArrowError| damaged(path, &error.to_string());
        let names = |schema: &arrow_schema::Schema| schema.fields().iter().map(|field| field.name().clone()).collect();
        if bytes.starts_with(b"ARROW1") {
            let reader = FileReader::try_new(Cursor::new(bytes), None).map_err(damaged)?;
            table(path, names(&reader.schema()), reader)
        } else {
            let reader = StreamReader::try_new(Cursor::new(bytes), None).map_err(damaged)?;
            table(path, names(&reader.schema()), reader)
        }
    })
}

fn damaged(path: &Path, error: &str) -> Error {
    bad(path, format!("the file ends too early or is damaged ({error}); copy or write it again"))
}

/// The readers meet some damage with a panic: a buffer that would end behind the file, a negative length. It becomes an
/// error here: nothing of what they were doing is used afterwards.
fn guarded(path: &Path, work: impl FnOnce() -> Result<Table, Error>) -> Result<Table, Error> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    outcome.unwrap_or_else(|_| Err(damaged(path, "its parts contradict each other")))
}

type Batches<'a> = dyn Iterator<Item = Result<RecordBatch, ArrowError>> + 'a;

/// The columns of all batches, one behind the other.
fn table(
    path: &Path,
    names: Vec<String>,
    mut batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<Table, Error> {
    let batches: &mut Batches = &mut batches;
    let mut columns: Vec<Gathered> = names.iter().map(|_| Gathered::default()).collect();
    let mut rows = 0;
    for batch in batches {
        let batch = batch.map_err(|error| damaged(path, &error.to_string()))?;
        for (place, column) in columns.iter_mut().enumerate() {
            column.push(batch.column(place)).map_err(|kind| {
                let problem = format!("the column holds {kind}, neither numbers nor words: leave it out of the file");
                bad_at(path, format!(", column {} ({})", place + 1, names[place]), problem)
            })?;
        }
        rows += batch.num_rows();
    }
    let dates = names.iter().zip(&mut columns).filter_map(|(name, column)| Some((name.clone(), column.count_days()?)));
    let formats = dates.collect();
    let columns = names.into_iter().zip(columns).map(|(name, column)| Column { name, values: column.values() });
    Ok(Table { formats, ..Table::new(columns.collect(), rows) })
}

/// The bytes of a Parquet file of these columns. What is missing becomes a null.
///
/// # Errors
/// When the columns differ in length, or two have one name.
pub fn write_parquet(columns: &[Column]) -> Result<Vec<u8>, Error> {
    let refused = |error: String| Error::Request(format!("the columns cannot be written as Parquet: {error}"));
    let batch = RecordBatch::try_from_iter_with_nullable(columns.iter().map(|c| (&c.name, array(&c.values), true)));
    let batch = batch.map_err(|error| refused(error.to_string()))?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut bytes = Vec::new();
    let written = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).and_then(|mut writer| {
        writer.write(&batch)?;
        writer.close()
    });
    written.map_err(|error| refused(error.to_string()))?;
    Ok(bytes)
}

fn array(values: &Values) -> ArrayRef {
    match values {
        Values::Numbers(numbers) => {
            Arc::new(numbers.iter().map(|&v| (!v.is_nan()).then_some(v)).collect::<Float64Array>())
        }
        Values::Words { levels, codes } => {
            let word = |code: &Option<u32>| code.and_then(|code| levels.get(code as usize));
            Arc::new(codes.iter().map(word).collect::<StringArray>())
        }
    }
}
