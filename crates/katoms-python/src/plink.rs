//! PLINK's files for Python: all but the codes, which it maps itself.

use std::path::PathBuf;

use katoms_io::{Genotypes, Individual, PhenotypeValues, ReadOptions, Source, Variant};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::invalid;

/// What the files hold: the path of the .bed file, `shape`, `names`, `individuals`, `phenotype` (NaN where it is unknown;
/// 1 for cases and 0 for controls), and `means`, what a missing genotype of each variant counts as.
#[pyfunction]
fn read_plink(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let files = katoms_io::files_of(&path);
    let source = py.detach(|| katoms_io::read(&path, &ReadOptions::default())).map_err(invalid)?;
    let Source::Genotypes(genotypes) = source else {
        let problem = format!(
            "{}: not a file of PLINK; name a .bed file that has its .bim and .fam files beside it",
            path.display()
        );
        return Err(invalid(problem));
    };
    let means: Vec<f64> =
        py.detach(|| genotypes.all_counts().iter().map(katoms::operator::GenotypeCounts::mean).collect());
    let Genotypes { individuals, variants, phenotype, .. } = genotypes;
    let phenotype = match phenotype.values {
        PhenotypeValues::Unknown => vec![f64::NAN; individuals.len()],
        PhenotypeValues::Quantitative(numbers) => numbers,
        PhenotypeValues::CaseControl(cases) => {
            cases.into_iter().map(|case| case.map_or(f64::NAN, |case| f64::from(u8::from(case)))).collect()
        }
    };
    let name = |Variant { name, alleles: [counted, _] }: &Variant| format!("{name}_{counted}");
    let individual = |Individual { family, id }: Individual| (family, id);
    let told = PyDict::new(py);
    told.set_item("bed", files.first())?;
    told.set_item("shape", (individuals.len(), variants.len()))?;
    told.set_item("names", variants.iter().map(name).collect::<Vec<String>>())?;
    told.set_item("individuals", individuals.into_iter().map(individual).collect::<Vec<_>>())?;
    told.set_item("phenotype", PyArray1::from_vec(py, phenotype))?;
    told.set_item("means", PyArray1::from_vec(py, means))?;
    Ok(told)
}

/// Adds the function to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_plink, module)?)
}
