use std::fs;

use super::complaint;
use crate::{ReadOptions, read};

#[test]
fn a_file_that_is_not_there_is_said_so_with_its_likely_neighbour() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Houses.npy"), "").unwrap();
    fs::write(folder.path().join("other.npy"), "").unwrap();
    let said = |name: &str| read(&folder.path().join(name), &ReadOptions::default()).unwrap_err().to_string();
    let near = said("house.npy");
    assert!(near.contains("house.npy: there is no such file; there is ") && near.ends_with("/Houses.npy"), "{near}");
    assert!(said("zzzzzzzz.csv").ends_with("/zzzzzzzz.csv: there is no such file"));
    let nowhere = said("data/x.csv");
    assert!(nowhere.contains("there is no such file, nor a folder ") && nowhere.ends_with("/data"), "{nowhere}");
}

#[test]
fn a_folder_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let said = read(folder.path(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(said.ends_with(": this is a folder: name a file in it"), "{said}");
}

#[test]
fn name_and_bytes_must_agree() {
    let npy = b"\x93NUMPY\x01\x00";
    let said = complaint("a.csv", npy);
    assert_eq!(said, ": the name says a text table, but the bytes are those of an NPY file: rename it to end in .npy");
    let said = complaint("a.png", npy);
    assert_eq!(said, ": the name says a PNG picture, but the bytes are those of an NPY file: rename it to end in .npy");
    let said = complaint("a.npy", b"1,2,3\n");
    assert_eq!(
        said,
        ": the name says an NPY file, but the bytes do not start like one: it is damaged or of another kind"
    );
    assert_eq!(complaint("a.npz", b""), ": the file is empty; its name says an NPZ (ZIP) archive");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_said_so() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    fs::write(&path, "x").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // root may read everything
    if fs::File::open(&path).is_err() {
        let said = read(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(said.ends_with(": there is no permission to read this file"), "{said}");
    }
}
