//! Parquet and Arrow (Feather): columns of numbers, truth values, words and dates.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::Schema;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups};
use parquet::arrow::{ArrowWriter, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Compression;
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::serialized_reader::SerializedPageReader;

use super::arrow_column::{Gathered, is_flat};
use super::arrow_ipc::{Messages, Problem};
use super::parquet_pages::{self, CheckedPages, Refused};
use super::{bad, bad_at};
use crate::allocation::MaxUnpacked;
use crate::error::{Error, short, short_sentence};
use crate::table::{Column, Table, Values};

/// The table of a Parquet file.
///
/// # Errors
/// When the file is cut off or damaged, unpacks to more than the limit, or a column holds what is neither numbers nor
/// words.
pub fn read_parquet(path: &Path, bytes: Vec<u8>, limit: MaxUnpacked) -> Result<Table, Error> {
    guarded(path, || {
        let failed = |error: ParquetError| damaged(path, &error.to_string());
        let bytes = Bytes::from(bytes);
        let all = ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()).map_err(failed)?;
        let mut table = Parts::new(path, all.schema())?;
        let checked = parquet_pages::check(all.metadata(), &bytes, limit).map_err(|refused| match refused {
            Refused::Damaged => damaged(path, CONTRADICTION),
            Refused::TooLarge(problem) => bad(path, problem),
        })?;
        let hint = Some(all.schema().fields());
        let levels =
            parquet_to_arrow_field_levels(all.parquet_schema(), ProjectionMask::all(), hint).map_err(failed)?;
        let groups = Groups { bytes: Arc::new(bytes), metadata: Arc::clone(all.metadata()) };
        let batches = ParquetRecordBatchReader::try_new_with_row_groups(&levels, &groups, checked.rows, None);
        for batch in batches.map_err(failed)? {
            table.push(&batch.map_err(|error| damaged(path, &error.to_string()))?)?;
        }
        Ok(table.finished())
    })
}

/// The row groups of a file, of which every page is looked at before it is decoded.
struct Groups {
    bytes: Arc<Bytes>,
    metadata: Arc<ParquetMetaData>,
}

impl RowGroups for Groups {
    fn num_rows(&self) -> usize {
        self.row_groups().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).fold(0, usize::saturating_add)
    }

    fn column_chunks(&self, column: usize) -> ParquetResult<Box<dyn PageIterator>> {
        let groups = Groups { bytes: Arc::clone(&self.bytes), metadata: Arc::clone(&self.metadata) };
        Ok(Box::new(Chunks { groups, column, next: 0 }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// A column, one row group after the other.
struct Chunks {
    groups: Groups,
    column: usize,
    next: usize,
}

impl Iterator for Chunks {
    type Item = ParquetResult<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.groups.metadata.row_groups().get(self.next)?;
        self.next += 1;
        let chunk = group.columns().get(self.column)?;
        let has_nulls = chunk.column_descr().max_def_level() > 0;
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let pages = SerializedPageReader::new(Arc::clone(&self.groups.bytes), chunk, rows, None);
        Some(pages.map(|pages| Box::new(CheckedPages { pages, has_nulls }) as Box<dyn PageReader>))
    }
}

impl PageIterator for Chunks {}

/// The table of an Arrow file or stream.
///
/// # Errors
/// When the file is cut off or damaged, unpacks to more than the limit, or a column holds what is neither numbers nor
/// words.
pub fn read_arrow(path: &Path, bytes: Vec<u8>, limit: MaxUnpacked) -> Result<Table, Error> {
    guarded(path, || {
        let failed = |problem| match problem {
            Problem::Damaged(problem) => damaged(path, &problem),
            Problem::TooLarge(problem) => bad(path, problem),
        };
        let mut messages = Messages::new(bytes, limit).map_err(failed)?;
        let mut table = Parts::new(path, messages.schema())?;
        while let Some(batch) = messages.next_batch().map_err(failed)? {
            table.push(&batch)?;
        }
        Ok(table.finished())
    })
}

const CONTRADICTION: &str = "its parts contradict each other";

fn damaged(path: &Path, error: &str) -> Error {
    bad(path, format!("the file ends too early or is damaged ({}); copy or write it again", short_sentence(error)))
}

/// The readers meet some damage with a panic: a level of more bits than there are, an index beyond its list. It becomes
/// an error here: nothing of what they were doing is used afterwards.
fn guarded(path: &Path, work: impl FnOnce() -> Result<Table, Error>) -> Result<Table, Error> {
    katoms::contained(work).unwrap_or_else(|_| Err(damaged(path, CONTRADICTION)))
}

/// The columns of all batches, one behind the other.
struct Parts<'p> {
    path: &'p Path,
    names: Vec<String>,
    columns: Vec<Gathered>,
    rows: usize,
}

impl<'p> Parts<'p> {
    /// Nothing yet, of columns that can be read.
    fn new(path: &'p Path, schema: &Schema) -> Result<Self, Error> {
        if schema.fields().is_empty() {
            return Err(bad(path, "the table has no columns"));
        }
        for (place, field) in schema.fields().iter().enumerate() {
            if !is_flat(field.data_type()) {
                let kind = field.data_type().to_string();
                let problem =
                    format!("the column holds {}, neither numbers nor words: leave it out of the file", short(&kind));
                return Err(bad_at(path, format!(", column {} ({})", place + 1, short(field.name())), problem));
            }
        }
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let columns = names.iter().map(|_| Gathered::default()).collect();
        Ok(Self { path, names, columns, rows: 0 })
    }

    fn push(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        for (column, part) in self.columns.iter_mut().zip(batch.columns()) {
            column.push(part).map_err(|problem| bad(self.path, problem))?;
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    fn finished(mut self) -> Table {
        let columns = self.names.iter().zip(&mut self.columns);
        let formats = columns.filter_map(|(name, column)| Some((name.clone(), column.count_days()?))).collect();
        let columns = self.names.into_iter().zip(self.columns);
        let columns = columns.map(|(name, column)| Column { name, values: column.values() });
        Table { formats, ..Table::new(columns.collect(), self.rows) }
    }
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
