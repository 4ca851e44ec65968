//! `katoms inspect`: what is in a file.

mod columns;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use katoms::select::{Sign, phase_transition_k};
use katoms_io::{
    Array, Ask, ColumnFormat, Dataset, Day, Genotypes, Phenotype, PhenotypeValues, Problem, Review, Source, Sparse,
    Table,
};
use serde::Serialize;

use crate::Ended;
use crate::reading::FormatArgs;
use crate::terminal::{Terminal, aligned, count, number};
use columns::Seen;

/// Columns that are listed one by one.
const LISTED: usize = 40;

/// `katoms inspect`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  katoms inspect houses.csv
  katoms inspect genes.npz --json")]
pub struct InspectArgs {
    /// Any file that `katoms fit` or `katoms complete` takes
    #[arg(value_name = "DATA")]
    data: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default, Serialize)]
struct Inspected {
    holds: String,
    rows: usize,
    columns: usize,
    columns_seen: Vec<Seen>,
    notes: Vec<String>,
    would: Vec<String>,
    problems: Vec<Problem>,
}

impl InspectArgs {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<Ended> {
        // Inspecting is for files that are not yet as they should be: only what cannot be read at all is an error.
        let source = katoms_io::read_with_problems(&self.data, &self.format.options())?;
        let mut inspected = inspect(&source);
        if !matches!(source, Source::Picture(_) | Source::Genotypes(_)) {
            if !inspected.columns_seen.is_empty() {
                self.review(source, &mut inspected);
            }
            let outlook = inspected.outlook();
            inspected.would.splice(..0, outlook);
        }
        if self.json {
            terminal.print_json(&inspected)?;
        } else {
            terminal.show(&text(&inspected))?;
        }
        Ok(Ended::Done)
    }

    /// What a fit would say and refuse: it is asked.
    fn review(&self, source: Source, inspected: &mut Inspected) {
        let FormatArgs { drop, categorical, .. } = &self.format;
        let (path, categorical) = (self.data.clone(), categorical.clone());
        match Dataset::review(source, &Ask { path, drop: drop.clone(), categorical, ..Ask::default() }) {
            Ok(Review { columns, notes, problems }) => {
                (inspected.notes, inspected.problems) = (notes, problems);
                for (i, seen) in inspected.columns_seen.iter_mut().enumerate() {
                    seen.dropped = !drop.is_empty() && !columns.contains(&i);
                }
            }
            Err(error) => inspected.would.push(format!("a fit would refuse this: {error}")),
        }
    }
}

fn inspect(source: &Source) -> Inspected {
    match source {
        Source::Table(table) => of_table(table),
        Source::Array(array) => of_array("a matrix of numbers", array),
        Source::Sparse(sparse) => of_sparse(sparse),
        Source::Arrays { arrays, sparse } => {
            let listed = arrays.iter().map(|(name, a)| format!("{name} ({} × {})", a.rows, a.columns));
            let sparse_shape = sparse.iter().map(|s| format!("a sparse matrix ({} × {})", s.rows, s.columns));
            let holds = format!("arrays: {}", listed.chain(sparse_shape).collect::<Vec<_>>().join(", "));
            let matrix = arrays.iter().map(|(_, array)| array).max_by_key(|a| a.columns);
            match (sparse, matrix) {
                (Some(sparse), _) => Inspected { holds, ..of_sparse(sparse) },
                (None, Some(matrix)) => of_array(&holds, matrix),
                (None, None) => of_shape(holds, 0, 0),
            }
        }
        Source::Genotypes(genotypes) => of_genotypes(genotypes),
        Source::Picture(picture) => {
            let hidden = picture.seen.iter().filter(|seen| !**seen).count();
            let colours = if picture.channels.len() == 1 { "grey" } else { "colour" };
            let mut inspected = of_shape(format!("a {colours} picture"), picture.rows, picture.columns);
            let pixels = picture.rows * picture.columns;
            inspected.would = vec![match hidden {
                0 => "no pixel is missing: `katoms complete` needs a mask or --observed".into(),
                _ => format!("{hidden} of {pixels} pixels are transparent: `katoms complete` would fill them"),
            }];
            inspected
        }
    }
}

fn of_shape(holds: String, rows: usize, columns: usize) -> Inspected {
    Inspected { holds, rows, columns, ..Inspected::default() }
}

fn of_array(holds: &str, array: &Array) -> Inspected {
    of_shape(holds.into(), array.rows, array.columns).with_columns(columns::of_array(array), || array.count_missing())
}

fn of_sparse(sparse: &Sparse) -> Inspected {
    let share = 100.0 * sparse.values.len() as f64 / (sparse.rows * sparse.columns).max(1) as f64;
    let labels = if sparse.labels.is_some() { ", with a label for each row" } else { "" };
    let holds = format!("a sparse matrix, {} % of it stored{labels}", number(share));
    let missing = || sparse.values.iter().filter(|v| v.is_nan()).count();
    of_shape(holds, sparse.rows, sparse.columns).with_columns(columns::of_sparse(sparse), missing)
}

fn of_genotypes(genotypes: &Genotypes) -> Inspected {
    let (individuals, variants) = (genotypes.individuals.len(), genotypes.variants.len());
    let mut inspected =
        of_shape("genotypes of PLINK, an individual a row, a variant a column".into(), individuals, variants);
    let counts = genotypes.all_counts();
    let missing: usize = counts.iter().map(|counts| counts.missing).sum();
    let share = 100.0 * missing as f64 / (individuals * variants).max(1) as f64;
    let monomorphic = counts.iter().filter(|counts| counts.is_constant()).count();
    let Phenotype { name, values } = &genotypes.phenotype;
    let phenotype = match (values, values.cases_and_controls()) {
        (PhenotypeValues::Quantitative(numbers), _) => {
            let known = numbers.iter().filter(|v| !v.is_nan()).count();
            format!("numbers, known of {}", count(known, "individual", "individuals"))
        }
        (_, Some((cases, controls))) => {
            format!("{} and {}", count(cases, "case", "cases"), count(controls, "control", "controls"))
        }
        _ => "unknown of all: a fit would need --target FILE".into(),
    };
    inspected.would.push(format!("a fit would choose among {}", count(variants, "variant", "variants")));
    inspected.would.extend(carried(individuals, variants));
    let missing = match missing {
        0 => "no genotype is missing".into(),
        n => format!(
            "{} missing, {} %: a fit would take the mean of the variant",
            count(n, "genotype is", "genotypes are"),
            number(share)
        ),
    };
    let monomorphic = match monomorphic {
        0 => "no variant is monomorphic".into(),
        n => format!("{} monomorphic, and can explain nothing", count(n, "variant is", "variants are")),
    };
    inspected.would.extend([format!("{name}: {phenotype}"), missing, monomorphic]);
    inspected.would.extend(genotypes.notes.iter().cloned());
    inspected.columns_seen = columns::of_genotypes(genotypes, &counts);
    inspected
}

fn of_table(table: &Table) -> Inspected {
    of_shape("a table".into(), table.rows, table.columns.len()).with_columns(Some(columns::of_table(table)), || 0)
}

impl Inspected {
    /// The same with what is known about its columns; where they are too many to look at, what is missing in all.
    fn with_columns(mut self, seen: Option<Vec<Seen>>, missing: impl Fn() -> usize) -> Self {
        let Some(seen) = seen else {
            self.would.push("too large to look for constant or duplicated columns".into());
            let missing = missing();
            if missing > 0 {
                let values = count(missing, "value is", "values are");
                self.would
                    .push(format!("{values} missing: a fit would refuse, but for --missing mean or --missing drop"));
            }
            return self;
        };
        let named = |of: &dyn Fn(&Seen) -> bool| -> Vec<&str> {
            seen.iter().filter(|column| of(column)).map(|column| column.name.as_str()).collect()
        };
        for (what, names) in [
            ("columns without any value", named(&|c| c.range.is_none() && c.levels.unwrap_or(0) == 0)),
            ("constant columns can explain nothing", named(&|c| c.constant)),
            ("duplicates of an earlier column, of which a fit takes the first", named(&|c| c.duplicate_of.is_some())),
        ] {
            self.would.extend((!names.is_empty()).then(|| format!("{what}: {}", some(&names))));
        }
        self.columns_seen = seen;
        self
    }

    fn outlook(&self) -> Vec<String> {
        let is_refused = |column: usize| self.problems.iter().any(|p| p.column == Some(column));
        let features = |(i, seen): (usize, &Seen)| match seen.levels {
            _ if seen.dropped => 0,
            Some(_) if is_refused(i) => 0,
            Some(levels) => levels.saturating_sub(1),
            None => 1,
        };
        let dropped = self.columns_seen.iter().filter(|seen| seen.dropped).count();
        let features: usize = match self.columns_seen.len() {
            0 => self.columns,
            _ => self.columns_seen.iter().enumerate().map(features).sum(),
        };
        // One of the columns is most likely the target.
        let features = features.saturating_sub(1).max(1);
        let choices = count(features, "feature", "features");
        let mut told = vec![match features + 1 + dropped > self.columns {
            true => format!(
                "a fit would choose among {choices}: each category but the first has one, and those of a column enter together"
            ),
            false => format!("a fit would choose among {choices}, with one column as its target"),
        }];
        told.extend(carried(self.rows, features));
        told
    }
}

fn carried(rows: usize, features: usize) -> Option<String> {
    let k = phase_transition_k(rows.max(1), features, Sign::Any).ok()?;
    let most = k.min(rows.saturating_sub(1)).max(1);
    Some(format!("data of this shape carry at most about {most} of them; noise leaves room for fewer"))
}

fn some(names: &[&str]) -> String {
    let more = if names.len() > 5 { format!(", and {} more", names.len() - 5) } else { String::new() };
    format!("{}{more}", names[..names.len().min(5)].join(", "))
}

fn row(seen: &Seen) -> Vec<String> {
    let range = match (seen.range, seen.levels, &seen.format) {
        (Some([least, _, largest]), _, Some(ColumnFormat::Dates(dates))) => {
            let day = |days: f64| Day::from_number(dates.origin.number() + days.floor() as i64);
            let day = |days: f64| day(days).map(|day| day.to_string()).unwrap_or_default();
            format!("{} to {}", day(least), day(largest))
        }
        (Some([least, mean, largest]), ..) => {
            format!("{} to {}, mean {}", number(least), number(largest), number(mean))
        }
        (None, Some(levels), _) => count(levels, "level", "levels"),
        (None, None, _) => "nothing".into(),
    };
    let remarks = seen.dropped.then(|| "left out (--drop)".to_owned()).into_iter();
    let remarks = remarks.chain(seen.format.iter().map(ColumnFormat::described));
    let remarks = remarks.chain(seen.constant.then(|| "constant".to_owned()));
    let remarks = remarks.chain(seen.duplicate_of.iter().map(|other| format!("the same as {other}")));
    let remarks = remarks.collect::<Vec<_>>().join("; ");
    vec![seen.name.clone(), seen.kind.into(), seen.missing.to_string(), range, remarks]
}

fn text(inspected: &Inspected) -> String {
    let Inspected { holds, rows, columns, columns_seen, notes, would, problems } = inspected;
    let mut text = format!("{holds}: {} × {}\n", count(*rows, "row", "rows"), count(*columns, "column", "columns"));
    if !columns_seen.is_empty() {
        let listed: Vec<Vec<String>> = columns_seen.iter().take(LISTED).map(row).collect();
        text += &format!("\n{}", aligned(&["column", "holds", "missing", "values", "remarks"], &listed));
        if columns_seen.len() > LISTED {
            text += &format!("  … and {} more; --json has them all\n", columns_seen.len() - LISTED);
        }
    }
    text = notes.iter().chain(would).fold(text + "\n", |text, line| text + &format!("- {line}\n"));
    if !problems.is_empty() {
        text += "\nA fit would refuse this file as it stands:\n";
    }
    for Problem { place, problem, .. } in problems.iter().take(LISTED) {
        text += &if place.is_empty() { format!("- {problem}\n") } else { format!("- {place}: {problem}\n") };
    }
    if problems.len() > LISTED {
        text += &format!("- and {} more; --json has them all\n", problems.len() - LISTED);
    }
    text
}
