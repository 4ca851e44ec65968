//! Which allele of a variant is counted: that of the file may not be the model's.

use super::frame::{Body, Frame};
use super::storage::Held;
use super::types::{Expected, Feature};
use crate::error::Error;
use crate::names::{counted, listed};
use crate::table::Values;

/// The name of an allele that no individual of a file has.
const NO_ALLELE: &str = "0";

/// The columns that a model expects, decoded, in its order: where a file counts the other allele, turned round.
pub(super) fn orient(frame: &mut Frame, expected: &Expected, places: Vec<usize>) -> Result<Vec<usize>, Error> {
    let Body::Numbers(storage) = &frame.body else { return Ok(places) };
    let Held::Genotypes(_) = &storage.held else { return Ok(places) };
    let (mut columns, mut one_allele) = (Vec::with_capacity(places.len()), Vec::new());
    for (feature, &place) in expected.features.iter().zip(&places) {
        let mut values = storage.column(place);
        // covariates have none
        if let Some(alleles) = frame.alleles.get(place) {
            if is_turned(frame, feature, alleles)? {
                values.iter_mut().for_each(|v| *v = 2.0 - *v);
            }
            one_allele.extend(alleles.iter().any(|allele| allele == NO_ALLELE).then_some(feature.column.as_str()));
        }
        columns.push(Values::Numbers(values));
    }
    if !one_allele.is_empty() {
        let (variants, list) = (counted(one_allele.len(), "variant"), listed(one_allele.into_iter()));
        frame.notes.push(format!(
            "{variants} with one allele (the other is 0 in the .bim file), taken for the model's: {list}"
        ));
    }
    frame.names = expected.features.iter().map(|feature| feature.column.clone()).collect();
    frame.alleles = Vec::new();
    frame.body = Body::Columns(columns);
    Ok((0..places.len()).collect())
}

/// Whether a file counts the allele of a variant that the model does not count.
fn is_turned(frame: &Frame, feature: &Feature, [first, second]: &[String; 2]) -> Result<bool, Error> {
    let (path, name) = (frame.path.display(), &feature.name);
    let Some(allele) = name.strip_prefix(&feature.column).and_then(|rest| rest.strip_prefix('_')) else {
        return Err(Error::Request(format!(
            "{path}: the model does not say which allele of {name} it counts; fit it to a .bed file, or predict for the table \
             that it was made from"
        )));
    };
    if allele == first || allele == second {
        return Ok(allele == second);
    }
    if first == NO_ALLELE || second == NO_ALLELE {
        return Ok(second == NO_ALLELE);
    }
    Err(Error::Request(format!(
        "{path}: variant {} has the alleles {first} and {second}, but the model counts {allele}; bring the files to the same \
         strand (plink --flip), or fit the model without it (--drop {})",
        feature.column, feature.column
    )))
}
