//! PLINK: genotypes of 2 bits in a .bed file, their variants in a .bim file, their individuals in a .fam file.
//!
//! A .bed file begins with 6c 1b and a byte that is 1 where variant follows variant. Then each variant has a byte for four
//! individuals. The others are text: six fields a line, between blanks or tabs.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::plink_table::number_of;
use crate::error::{Error, bad, bad_at, unreadable};
use crate::genotypes::{Genotypes, Individual, Phenotype, PhenotypeValues, Variant};
use crate::mapped::{Mapped, Stored};
use crate::names::counted;

/// What a .bed file starts with.
pub(crate) const MAGIC: &[u8] = b"\x6c\x1b";
/// The bytes before the genotypes.
const HEADER: usize = 3;
/// The fields of a line of a .bim or .fam file.
const FIELDS: usize = 6;
/// Variants of which no one has two copies of each by chance.
const BY_CHANCE: usize = 20;

/// The .bed file that is meant: by its name, by that of a file beside it, or by what all three names begin with.
pub(crate) fn bed_of(path: &Path) -> Option<PathBuf> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("bed") => Some(path.into()),
        Some("bim" | "fam") => Some(path.with_extension("bed")),
        _ if path.exists() => None,
        _ => {
            let mut name = OsString::from(path);
            name.push(".bed");
            Some(PathBuf::from(name)).filter(|bed| bed.is_file())
        }
    }
}

/// The files that are read for a .bed file.
pub(crate) fn files_of(bed: &Path) -> [PathBuf; 3] {
    [bed.into(), bed.with_extension("bim"), bed.with_extension("fam")]
}

/// What the three files hold. A .bed file longer than `above` is mapped, not read.
pub(crate) fn read(bed: &Path, above: u64) -> Result<Genotypes, Error> {
    let [_, bim, fam] = files_of(bed);
    if !bed.exists() {
        let beside = [&bim, &fam].into_iter().find(|file| file.exists());
        return Err(match beside {
            Some(beside) => bad(beside, format!("its genotypes are not there: put {} beside it", bed.display())),
            None => unreadable(bed, std::io::ErrorKind::NotFound.into()),
        });
    }
    let (individuals, phenotype) = read_fam(&fam, &beside(bed, &fam)?)?;
    let mut notes = Vec::new();
    let variants = read_bim(&bim, &beside(bed, &bim)?, &mut notes)?;
    let codes = read_bed(bed, individuals.len(), variants.len(), above)?;
    notes.extend(check_last_bytes(bed, &codes, individuals.len())?);
    Ok(Genotypes { codes, individuals, variants, phenotype, covariates: Vec::new(), notes })
}

/// The text of a file that goes with a .bed file.
fn beside(bed: &Path, path: &Path) -> Result<String, Error> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let problem = format!(
                "there is no {} beside it; PLINK writes the three files together (plink --make-bed): copy it here",
                path.file_name().unwrap_or_default().to_string_lossy()
            );
            Err(bad(bed, problem))
        }
        Err(error) => Err(unreadable(path, error)),
    }
}

/// The lines of a .bim or .fam file, in fields.
fn fields<'t>(path: &Path, text: &'t str, wanted: &str) -> Result<Vec<[&'t str; FIELDS]>, Error> {
    let split = |(at, line): (usize, &'t str)| {
        let all: Vec<&str> = line.split_ascii_whitespace().collect();
        <[&str; FIELDS]>::try_from(all).map_err(|all| {
            let problem = format!("{}, but {FIELDS} are wanted: {wanted}", counted(all.len(), "field"));
            bad_at(path, format!(", line {}", at + 1), problem)
        })
    };
    let lines: Vec<_> = text.trim_end().lines().enumerate().map(split).collect::<Result<_, _>>()?;
    if lines.is_empty() {
        return Err(bad(path, format!("the file is empty; each line has {FIELDS} fields: {wanted}")));
    }
    Ok(lines)
}

fn read_fam(path: &Path, text: &str) -> Result<(Vec<Individual>, Phenotype), Error> {
    let lines = fields(path, text, "family, individual, father, mother, sex, phenotype")?;
    let individuals: Vec<Individual> =
        lines.iter().map(|[family, id, ..]| Individual { family: (*family).into(), id: (*id).into() }).collect();
    let mut seen = HashMap::new();
    for (at, individual) in individuals.iter().enumerate() {
        if let Some(first) = seen.insert(individual, at) {
            let Individual { family, id } = individual;
            let problem = format!("individual {family} {id} is on line {} already; each must be there once", first + 1);
            return Err(bad_at(path, format!(", line {}", at + 1), problem));
        }
    }
    let values = phenotypes(lines.iter().map(|line| line[5]));
    let values = values.map_err(|(at, problem)| bad_at(path, format!(", line {}, field 6", at + 1), problem))?;
    Ok((individuals, Phenotype { name: "phenotype".into(), values }))
}

fn read_bim(path: &Path, text: &str, notes: &mut Vec<String>) -> Result<Vec<Variant>, Error> {
    let lines = fields(path, text, "chromosome, id, centimorgans, position, allele 1, allele 2")?;
    // `.` is no id: such a variant is called by its place.
    let name = |[chromosome, id, _, position, ..]: &[&str; FIELDS]| match *id {
        "." => format!("{chromosome}:{position}"),
        id => id.to_owned(),
    };
    let (names, renamed) = unique(lines.iter().map(name).collect());
    if renamed > 0 {
        let variants = counted(renamed, "variant");
        notes.push(format!("{variants} with the id of an earlier one: called ID.2, ID.3, …"));
    }
    let variant = |(name, line): (String, &[&str; FIELDS])| Variant { name, alleles: [line[4].into(), line[5].into()] };
    Ok(names.into_iter().zip(&lines).map(variant).collect())
}

/// The same names, where one comes again with `.2`, `.3`, … behind it; and how many that were.
fn unique(mut names: Vec<String>) -> (Vec<String>, usize) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    if taken.len() == names.len() {
        return (names, 0);
    }
    let (mut times, mut renamed): (HashMap<String, usize>, usize) = (HashMap::new(), 0);
    for name in &mut names {
        let n = times.entry(name.clone()).or_insert(0);
        *n += 1;
        if *n > 1 {
            while !taken.insert(format!("{name}.{n}")) {
                *n += 1;
            }
            *name = format!("{name}.{n}");
            renamed += 1;
        }
    }
    (names, renamed)
}

/// The codes of so many individuals and variants.
fn read_bed(path: &Path, individuals: usize, variants: usize, above: u64) -> Result<Stored<u8>, Error> {
    let unreadable = |error| unreadable(path, error);
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut start = Vec::new();
    file.by_ref().take(HEADER as u64).read_to_end(&mut start).map_err(unreadable)?;
    check_start(path, &start)?;
    let bytes = individuals.div_ceil(4);
    let needed = bytes.checked_mul(variants).and_then(|n| n.checked_add(HEADER)).map(|n| n as u64);
    if needed != Some(length) {
        let there = length.saturating_sub(HEADER as u64);
        return Err(bad(
            path,
            format!(
                "{there} bytes of genotypes, which is {} variants of {individuals} individuals (.fam), but the .bim file has {variants}: \
             it is cut off, or the files are of different sets; copy all three again, or make them again (plink --make-bed)",
                there / bytes.max(1) as u64
            ),
        ));
    }
    if length > above
        && let Some(mapped) = Mapped::new(path, &file, HEADER..HEADER + bytes * variants)?
    {
        return Ok(mapped.into());
    }
    let mut codes = Vec::new();
    file.read_to_end(&mut codes).map_err(unreadable)?;
    if codes.len() != bytes * variants {
        return Err(bad(path, "the file changed while it was read; run again when it is complete"));
    }
    Ok(codes.into())
}

/// Whether there are as many individuals as lines of the .fam file, as far as the last byte of each variant tells: three
/// lines more or less can leave the length of the .bed file right. What fills up a byte is the same for all variants,
/// usually 0. A note where the last individual may be none.
fn check_last_bytes(path: &Path, codes: &[u8], individuals: usize) -> Result<Option<String>, Error> {
    let (used, last) = (individuals % 4, individuals.saturating_sub(1) % 4);
    let bytes = || codes.chunks_exact(individuals.div_ceil(4).max(1)).filter_map(|column| column.last());
    let unused = |byte: &u8| if used == 0 { 0 } else { byte >> (2 * used) };
    let first = bytes().next().map(unused);
    if bytes().any(|byte| Some(unused(byte)) != first) {
        let problem = format!(
            "there are genotypes behind those of the {individuals} individuals of the .fam file, which lacks lines; copy all \
             three files again, or make them again (plink --make-bed)"
        );
        return Err(bad(path, problem));
    }
    let is_filler = last > 0 && bytes().count() >= BY_CHANCE && bytes().all(|byte| byte >> (2 * last) & 3 == 0);
    let note = "the last individual of the .fam file has two copies of allele 1 of every variant: is a line too many?";
    Ok(is_filler.then(|| note.into()))
}

/// Whether a .bed file starts as it should.
fn check_start(path: &Path, start: &[u8]) -> Result<(), Error> {
    match start {
        [0x6c, 0x1b, 1] => Ok(()),
        [0x6c, 0x1b, 0] => Err(bad(
            path,
            format!(
                "individual after individual (third byte 0), the order of old files; PLINK turns it round: \
             plink --bfile {} --make-bed --out NEW",
                path.with_extension("").display()
            ),
        )),
        [0x6c, 0x1b, other] => Err(bad(path, format!("the third byte is {other}, but 1 is wanted: it is damaged"))),
        _ if start.len() < HEADER => Err(bad(path, "the file ends before its genotypes: copy it again")),
        _ => Err(bad(
            path,
            "not a .bed file of PLINK: its first bytes are not 6c 1b (a BED file of regions of a genome is text, and has no \
             genotypes)",
        )),
    }
}

/// The phenotypes of a .fam file, of their words and the lines on which they are.
fn phenotypes<'w>(words: impl Iterator<Item = &'w str>) -> Result<PhenotypeValues, (usize, String)> {
    let number = |(at, word): (usize, &str)| number_of(word).map_err(|problem| (at, problem));
    words.enumerate().map(number).collect::<Result<Vec<f64>, _>>().map(PhenotypeValues::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phenotypes_follow_the_conventions_of_plink() {
        let of = |words: &str| phenotypes(words.split(' ')).unwrap();
        assert_eq!(of("-9 NA 0 nan"), PhenotypeValues::Unknown);
        assert_eq!(of("1 2 0 -9"), PhenotypeValues::CaseControl(vec![Some(false), Some(true), None, None]));
        assert_eq!(of("1 2 0 -9").cases_and_controls(), Some((1, 1)));
        let PhenotypeValues::Quantitative(numbers) = of("1 2 0 -9 0.5") else { panic!() };
        assert_eq!((&numbers[..3], numbers[3].is_nan(), numbers[4]), (&[1.0, 2.0, 0.0][..], true, 0.5));
        assert_eq!(phenotypes("1 two".split(' ')).unwrap_err().0, 1);
        assert_eq!(phenotypes("1 inf".split(' ')).unwrap_err().0, 1);
    }
}
