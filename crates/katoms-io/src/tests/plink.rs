use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::read::read_mapping_above;
use crate::{Ask, Dataset, Error, Missing, PhenotypeValues, ReadOptions, Source, read};

const BED: &[u8] = &[0x6c, 0x1b, 1, 0b11_10_01_00, 0b10, 0b00_00_11_11, 0b01];
const BIM: &str = "1 rs1 0 10 A G\n1\trs2\t0\t20\tT\tC\n";
const FAM: &str = "a 1 0 0 1 2.5\na 2 0 0 2 -9\nb 1 0 0 1 1\r\nb 2 0 0 1 NA\nc c 0 0 0 -3e0";

fn set(bed: &[u8], bim: &[u8], fam: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("x.bed", bed), ("x.bim", bim), ("x.fam", fam)] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn dataset(source: Source, missing: Missing) -> Result<Dataset, Error> {
    Dataset::new(source, &Ask { path: "x.bed".into(), missing, ..Ask::default() })
}

#[test]
fn the_three_files_are_read_whether_mapped_or_not() {
    let folder = set(BED, BIM.as_bytes(), FAM.as_bytes());
    let path = folder.path().join("x.bed");
    for above in [0, u64::MAX] {
        let Source::Genotypes(found) = read_mapping_above(&path, &ReadOptions::default(), above).unwrap() else {
            panic!()
        };
        assert_eq!(&found.codes[..], &BED[3..]);
        assert_eq!(found.variants.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["rs1", "rs2"]);
        assert_eq!(found.variants[1].alleles, ["T", "C"]);
        assert_eq!((found.individuals.len(), found.individuals[4].id.as_str()), (5, "c"));
        let PhenotypeValues::Quantitative(values) = &found.phenotype.values else { panic!() };
        assert_eq!(
            (values[0], values[1].is_nan(), values[2], values[3].is_nan(), values[4]),
            (2.5, true, 1.0, true, -3.0)
        );
        assert_eq!(found.counts(0).copies, [1, 2, 1]);
        // individuals without a phenotype are left out, and means are those of the others
        let data = dataset(Source::Genotypes(found), Missing::Mean).unwrap();
        assert_eq!((&data.rows[..], data.means.as_deref()), (&[0, 2, 4][..], Some(&[4.0 / 3.0, 1.0][..])));
        let mut columns = vec![vec![0.0; 3]; 2];
        columns.iter_mut().enumerate().for_each(|(j, out)| data.add_column(j, 1.0, out));
        assert_eq!(columns, [[2.0, 1.0, 1.0], [0.0, 2.0, 1.0]]);
    }
}

#[test]
fn damaged_files_never_panic() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..600 {
        let mut files = [BED.to_vec(), BIM.as_bytes().to_vec(), FAM.as_bytes().to_vec()];
        for _ in 0..random.random_range(1..4) {
            let file = &mut files[random.random_range(0..3)];
            let place = random.random_range(0..file.len());
            match random.random_range(0..4) {
                0 => file.truncate(place.max(1)),
                1 => file.insert(place, random.random()),
                _ => file[place] = random.random(),
            }
        }
        let [bed, bim, fam] = &files;
        let folder = set(bed, bim, fam);
        if let Ok(source) = read(&folder.path().join("x"), &ReadOptions::default()) {
            let Ok(data) = dataset(source, [Missing::Mean, Missing::Drop][random.random_range(0..2)]) else { continue };
            assert!(data.design().is_ok());
            assert!(!data.fingerprint().checksum.is_empty());
        }
    }
}
