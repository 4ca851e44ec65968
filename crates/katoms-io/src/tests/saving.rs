use std::fs;
use std::path::Path;

use crate::save;

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_written_and_replaced_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    for text in ["first", "second, longer", "3"] {
        save(&path, text.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(names(folder.path()), ["model.json"]);
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = save(&folder.path().join("out/model.json"), b"x").unwrap_err().to_string();
    assert!(
        said.contains("out/model.json: cannot be written: there is no folder ")
            && said.ends_with("/out: create it first"),
        "{said}"
    );
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_folder_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let said = save(folder.path(), b"x").unwrap_err().to_string();
    assert!(said.ends_with(": this is a folder; name a file in it"), "{said}");
}

#[test]
fn what_a_killed_process_left_is_removed_and_what_another_writes_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let within = |name: &str| folder.path().join(name);
    for name in [".katoms-gone.part", ".katoms-alive.part", ".katoms-notes", "other.part"] {
        fs::write(within(name), "half").unwrap();
    }
    fs::create_dir(within(".katoms-folder.part")).unwrap();
    let alive = fs::File::open(within(".katoms-alive.part")).unwrap();
    alive.lock().unwrap();
    save(&within("model.json"), b"whole").unwrap();
    let stay = [".katoms-alive.part", ".katoms-folder.part", ".katoms-notes", "model.json", "other.part"];
    assert_eq!(names(folder.path()), stay);
}

/// Two processes, or here threads, that write into one folder at once.
#[test]
fn many_may_write_into_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = folder.path().join(format!("{writer}"));
            scope.spawn(move || (0..50).for_each(|i| save(&path, format!("{i}").as_bytes()).unwrap()));
        }
    });
    assert_eq!(names(folder.path()).len(), 8);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_full_disk_is_said_to_be_full() {
        // every write to this file finds no room
        let said = save(Path::new("/dev/full"), b"x").unwrap_err().to_string();
        assert!(said.starts_with("/dev/full: cannot be written: the disk is full"), "{said}");
    }

    #[test]
    fn what_is_no_plain_file_is_written_to() {
        save(Path::new("/dev/null"), b"x").unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }

    #[test]
    fn when_the_system_refuses_nothing_is_left() {
        // a name that is longer than the system allows
        let folder = tempfile::tempdir().unwrap();
        let said = save(&folder.path().join("x".repeat(256)), b"new").unwrap_err().to_string();
        assert!(said.contains(": cannot be written: "), "{said}");
        assert_eq!(names(folder.path()).len(), 0);
    }

    #[test]
    fn permissions_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        save(&link, b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
