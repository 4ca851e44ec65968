//! The columns of a text table: plain numbers as they are, all others looked at as a whole.

use std::collections::BTreeMap;

use super::cell::Named;
use super::odd_rows;
use super::plain::{Cells, Plain};
use super::resolve::{Place, Resolved, Way, as_words, resolve};
use super::text::{Headings, Text, fits};
use super::text_column::{Kind, TextColumn, may_have_thousands};
use crate::column_format::{ColumnFormat, DateOrder, Decimal};
use crate::error::Error;
use crate::format::words::Words;
use crate::names::{Names, counted, listed};
use crate::problem::Problem;
use crate::source::ReadOptions;
use crate::table::{Column, Table, Values};

/// A text table that is being read.
pub(super) struct Reading<'r> {
    text: &'r Text<'r>,
    options: &'r ReadOptions,
    headings: Headings,
    named: Named,
    plain: Plain,
    is_categorical: Vec<bool>,
    is_dropped: Vec<bool>,
}

/// Whether a column is marked.
fn is(marks: &[bool], column: usize) -> bool {
    marks.get(column).copied().unwrap_or_default()
}

impl<'r> Reading<'r> {
    /// After the first read.
    pub(super) fn new(text: &'r Text<'r>, options: &'r ReadOptions) -> Result<Self, Error> {
        let (headings, named) =
            (text.headings()?, Named::new(options.na_values.iter().chain(&options.na_values_of_model)));
        let plain = Plain::read(text, headings.names.len(), &named)?;
        let names = Names::new(headings.names.iter().map(String::as_str));
        let marked = |wanted: &[String]| {
            let mut marks = vec![false; headings.names.len()];
            let found = wanted.iter().flat_map(|list| names.find_list(list));
            found.for_each(|i| marks.get_mut(i).into_iter().for_each(|mark| *mark = true));
            marks
        };
        let (is_categorical, is_dropped) = (marked(&options.categorical), marked(&options.drop));
        Ok(Self { text, options, headings, named, plain, is_categorical, is_dropped })
    }

    /// The table; `notes` are those about the text as a whole.
    pub(super) fn into_table(mut self, mut notes: Vec<String>) -> Result<Table, Error> {
        let text_columns = self.text_columns()?;
        let mut resolved = self.resolved(text_columns);
        notes.extend(self.headings.note.take());
        notes.extend(self.named_note());
        let mut problems: Vec<Problem> =
            self.plain.ragged_problem(self.text, self.headings.names.len()).into_iter().collect();
        let odd = odd_rows::take_out(&mut resolved, &mut self.plain.lines);
        notes.extend(odd.note);
        problems.extend(odd.problem);
        let explained = |resolved: &Resolved| resolved.only_slip.as_ref().is_some_and(|(row, _)| Some(*row) == odd.row);
        let (mut columns, mut formats) = (Vec::new(), BTreeMap::new());
        for (i, (resolved, name)) in resolved.into_iter().zip(&self.headings.names).enumerate() {
            if !is(&self.is_dropped, i) && !explained(&resolved) {
                problems.extend(resolved.problems);
            }
            formats.extend(resolved.format.map(|format| (name.clone(), format)));
            columns.push(Column { name: name.clone(), values: resolved.values });
        }
        let empty = self.leave_out_empty(&mut columns);
        if empty > 0 {
            notes.push(format!("{} at the end without a name and without values left out", counted(empty, "column")));
        }
        let (rows, has_names) = (self.plain.lines.len(), self.text.has_names());
        Ok(Table { columns, rows, lines: Some(self.plain.lines), has_names, formats, notes, problems })
    }

    /// The columns that are looked at as text; none where all cells are plain numbers with a decimal point.
    fn text_columns(&self) -> Result<Vec<Option<TextColumn>>, Error> {
        let by_comma = self.text.cut.delimiter == b',';
        let hint = |i: usize| matches!(self.hint(i), Some(ColumnFormat::Numbers(f)) if f.decimal == Decimal::Comma);
        let is_wanted = |(i, cells): (usize, &Cells)| {
            let is_plain = cells.texts == 0 && !is(&self.is_categorical, i);
            let may_differ =
                || self.options.decimal.is_some() || hint(i) || (!by_comma && may_have_thousands(&cells.numbers));
            !is_plain || (cells.missing < cells.numbers.len() && may_differ())
        };
        let wanted: Vec<bool> = self.plain.columns.iter().enumerate().map(is_wanted).collect();
        let mut text_columns = self.read_text(&wanted)?;
        // What the other columns have for a decimal mark matters where one has a comma, or may have.
        let matters = |(i, text): (usize, &Option<TextColumn>)| {
            let evidence =
                text.as_ref().filter(|text| self.is_free(i) && text.kind == Kind::Numbers).map(TextColumn::evidence);
            evidence.is_some_and(|e| e.only[1] > 0 || (e.way().is_none() && (e.open.is_some() || hint(i))))
        };
        if text_columns.iter().enumerate().any(matters) {
            let others: Vec<bool> = wanted.iter().map(|wanted| !wanted).collect();
            for (text, other) in text_columns.iter_mut().zip(self.read_text(&others)?) {
                *text = text.take().or(other);
            }
        }
        Ok(text_columns)
    }

    /// Reads some columns as text.
    fn read_text(&self, wanted: &[bool]) -> Result<Vec<Option<TextColumn>>, Error> {
        let mut words: Vec<Option<Words>> = wanted.iter().map(|wanted| wanted.then(Words::default)).collect();
        let places: Vec<usize> = (0..wanted.len()).filter(|&i| is(wanted, i)).collect();
        if !places.is_empty() {
            let mut rows = self.text.rows()?;
            while let Some(record) = rows.next()? {
                if !fits(record, wanted.len()) {
                    continue;
                }
                for &place in &places {
                    let field = record.get(place).unwrap_or_default();
                    words.get_mut(place).into_iter().flatten().for_each(|words| words.push(field));
                }
            }
        }
        let rows = self.plain.lines.len();
        Ok(words.into_iter().map(|words| words.map(|words| TextColumn::new(words, rows, &self.named))).collect())
    }

    /// Whether what a column holds is for its cells to say.
    fn is_free(&self, column: usize) -> bool {
        !is(&self.is_categorical, column) && !is(&self.is_dropped, column)
    }

    /// How a model has read a column of this name.
    fn hint(&self, column: usize) -> Option<&ColumnFormat> {
        self.headings.names.get(column).and_then(|name| self.options.formats.get(name))
    }

    fn resolved(&mut self, text_columns: Vec<Option<TextColumn>>) -> Vec<Resolved> {
        let ways: Vec<Way> = (0..text_columns.len()).map(|i| self.way(i, &text_columns)).collect();
        let mut resolved = Vec::with_capacity(text_columns.len());
        for (i, (text, way)) in text_columns.into_iter().zip(ways).enumerate() {
            let name = self.headings.names.get(i).map_or("", String::as_str);
            resolved.push(match text {
                Some(text) if is(&self.is_categorical, i) => Resolved::of(as_words(text)),
                Some(text) => resolve(text, way, &Place { column: i, name, lines: &self.plain.lines }),
                None => {
                    let numbers = self.plain.columns.get_mut(i).map(|cells| std::mem::take(&mut cells.numbers));
                    Resolved::of(Values::Numbers(numbers.unwrap_or_default()))
                }
            });
        }
        resolved
    }

    /// Which of two ways of writing a column has: what was said; what its own cells say; what all other columns that say
    /// something say; what the column was to the model.
    fn way(&self, column: usize, text_columns: &[Option<TextColumn>]) -> Way {
        let Some(text) = text_columns.get(column).and_then(Option::as_ref) else { return Way::Found(0) };
        let said = match text.kind {
            Kind::Numbers => self.options.decimal.map(|decimal| usize::from(decimal == Decimal::Comma)),
            Kind::Dates => self.options.date_order.map(|order| usize::from(order == DateOrder::Mdy)),
            Kind::Words => Some(0),
        };
        if let Some(way) = said {
            return Way::Given(way);
        }
        let evidence = text.evidence();
        let of_model = || match (text.kind, self.hint(column)?) {
            (Kind::Numbers, ColumnFormat::Numbers(format)) => Some(usize::from(format.decimal == Decimal::Comma)),
            (Kind::Dates, ColumnFormat::Dates(format)) => {
                format.order.map(|order| usize::from(order == DateOrder::Mdy))
            }
            _ => None,
        };
        // Where commas separate fields they are no decimal marks.
        let by_comma = text.kind == Kind::Numbers && self.text.cut.delimiter == b',';
        let open_comma = || evidence.open.and_then(|code| text.words.get(code)).is_some_and(|word| word.contains(','));
        let of_model = || of_model().filter(|_| !by_comma || open_comma());
        let found = evidence.way().or_else(|| self.way_of_file(text.kind, text_columns)).or_else(of_model);
        match (found, evidence.open) {
            (Some(way), _) => Way::Found(way),
            (None, Some(word)) if !by_comma => Way::Open(word),
            (None, _) => Way::Found(0),
        }
    }

    /// The way that columns of a kind agree on.
    fn way_of_file(&self, kind: Kind, text_columns: &[Option<TextColumn>]) -> Option<usize> {
        let free =
            text_columns.iter().enumerate().filter(|(i, _)| self.is_free(*i)).filter_map(|(_, text)| text.as_ref());
        let mut ways = free.filter(|text| text.kind == kind).filter_map(|text| text.evidence().way());
        let first = ways.next()?;
        ways.all(|way| way == first).then_some(first)
    }

    /// Which cells were missing because a person said so.
    fn named_note(&self) -> Option<String> {
        let found = self.headings.names.iter().zip(&self.plain.columns).filter(|(_, cells)| cells.named > 0);
        let list: Vec<String> = found.map(|(name, cells)| format!("{name} ({})", cells.named)).collect();
        let values = self.named.listed();
        match list.len() {
            0 if self.options.na_values.is_empty() => None,
            0 => Some(format!("no cell holds {values} (--na-values)")),
            _ => Some(format!("{values} read as missing: {}", listed(list.iter().map(String::as_str)))),
        }
    }

    /// Takes columns off the end that have neither a name nor a value; how many.
    fn leave_out_empty(&self, columns: &mut Vec<Column>) -> usize {
        let before = columns.len();
        while let Some(Column { values: Values::Numbers(numbers), .. }) = columns.last()
            && columns.len() > 1
            && self.text.has_names()
            && !is(&self.headings.is_given, columns.len() - 1)
            && numbers.iter().all(|v| v.is_nan())
        {
            columns.pop();
        }
        before - columns.len()
    }
}
