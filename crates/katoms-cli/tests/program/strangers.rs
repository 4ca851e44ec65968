//! Files from strangers, and a system with little room: a message each time, and nothing left behind.

use std::fs;
use std::process::{Command, Stdio};

use crate::desk::{Desk, Said, example};

/// A table whose second column has this name; the third is the sum of the others.
fn table(name: &str) -> String {
    let rows = (0..12).map(|i| format!("{i},{},{}\n", i * i % 7, i + i * i % 7));
    format!("a,\"{name}\",y\n{}", rows.collect::<String>())
}

fn steers(text: &str) -> bool {
    text.contains(|c: char| {
        c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c)
    })
}

#[test]
fn names_cannot_steer_the_terminal() {
    let desk = Desk::new();
    let name = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{202e}evil";
    desk.write("d.csv", table(name));
    let inspected = desk.succeeds("inspect d.csv");
    assert!(!steers(&inspected.out), "{:?}", inspected.out);
    assert!(inspected.out.contains(r"\u{1b}]0;owned\u{7}\u{1b}[31m\u{202e}evil"), "{}", inspected.out);
    let fitted = desk.succeeds("fit d.csv --target y -k 2 --out m.json --report r.html");
    assert!(!steers(&fitted.err) && fitted.err.contains(r"\u{202e}evil"), "{:?}", fitted.err);
    // in a page it would turn the rest of the sentence
    let (page, data) =
        desk.read("r.html").split_once("katoms-data").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert!(!page.contains(['\u{1b}', '\u{202e}']) && page.contains(r"\u{202e}evil"));
    // what machines read is as it was
    assert!(data.contains("\u{202e}evil"));
    assert_eq!(desk.json("m.json")["coefficients"][1]["name"], name);
    assert_eq!(desk.succeeds("inspect d.csv --json").json()["columns_seen"][1]["name"], name);
    desk.write("bad.csv", table(name).replace("3,2,5", "3,\u{1b}[2Jtwo,5"));
    let error = desk.refuses("fit bad.csv --target y -k 1");
    assert!(!steers(&error) && error.contains(r"\u{1b}[2Jtwo"), "{error:?}");
    let said = Said::of(&desk.command("inspect").arg("\u{1b}[31mno\u{202e}.csv").output().unwrap());
    assert!(said.code == Some(2) && !steers(&said.err) && said.err.contains(r"\u{1b}[31mno\u{202e}.csv"), "{said:?}");
    let said = Said::of(&desk.command("fit").arg("--\u{1b}[31m").output().unwrap());
    assert!(said.code == Some(2) && !steers(&said.err), "{said:?}");
}

#[test]
fn long_values_are_cut_in_messages_and_tables() {
    let desk = Desk::new();
    let name = "n".repeat(76_000);
    desk.write("d.csv", table(&name));
    let inspected = desk.succeeds("inspect d.csv");
    assert!(inspected.out.len() < 2000, "{} bytes", inspected.out.len());
    let fitted = desk.succeeds("fit d.csv --target y -k 2 --out m.json --report r.html");
    assert!(fitted.err.len() < 4000, "{} bytes", fitted.err.len());
    let page = desk.read("r.html");
    assert!(page.split_once("katoms-data").unwrap().0.len() < 60_000, "{} bytes", page.len());
    assert_eq!(desk.json("m.json")["coefficients"][1]["name"], name);
    desk.write("bad.csv", table("b").replace("3,2,5", &format!("3,{name},5")));
    let error = desk.refuses("fit bad.csv --target y -k 1");
    assert!(error.len() < 1500 && error.contains("bad.csv, line 5, column 2 (b)"), "{} bytes", error.len());
    desk.write("bad.svm", format!("1 1:2\n2 {name}\n"));
    let error = desk.refuses("inspect bad.svm");
    assert!(error.len() < 300 && error.contains("… (76000 characters)` should be index:value"), "{error}");
}

#[test]
fn compressed_zeros_are_refused_with_the_flag_that_takes_them() {
    let desk = Desk::new();
    let rows = "0,0\n".repeat(1 << 20);
    let mut gzip = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = gzip.stdin.take().unwrap();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut stdin, format!("a,b\n{rows}").as_bytes()));
    let packed = gzip.wait_with_output().unwrap().stdout;
    writer.join().unwrap().unwrap();
    desk.write("zeros.csv.gz", packed);
    desk.refuses_with("inspect zeros.csv.gz --max-unpacked 1MB", &["zeros.csv.gz", "--max-unpacked 1GiB"]);
    desk.succeeds("inspect zeros.csv.gz --max-unpacked 8MiB");
    desk.refuses_with("inspect zeros.csv.gz --max-unpacked plenty", &["500MB or 8GiB"]);
}

#[test]
fn more_half_samples_than_anybody_needs_are_refused() {
    let desk = Desk::new();
    desk.write("d.csv", table("b"));
    for pairs in ["1000000000", "0", "99999999999999999999"] {
        desk.refuses_with(
            &format!("fit d.csv --target y -k 1 --stability {pairs}"),
            &["from 1 to 1000; 25 to 100 tell enough"],
        );
    }
}

#[test]
fn files_of_other_programs_come_with_the_line_that_converts_them() {
    let desk = Desk::new();
    let zip =
        |name: &str| [b"PK\x03\x04", &[0; 22][..], &[name.len() as u8, 0, 0, 0], name.as_bytes(), &[0; 9]].concat();
    let bmp = [b"BM", &[0; 12][..], &[40, 0, 0, 0]].concat();
    for (name, bytes, words) in [
        ("a.bmp", &bmp[..], "Image.open('a.bmp').save('a.png')"),
        ("photo", &bmp, "this is a BMP picture"),
        ("a.webp", b"RIFF\x24\0\0\0WEBPVP8 ", "Image.open('a.webp').save('a.png')"),
        ("a.tiff", b"II*\0\x08\0\0\0", "magick a.tiff a.png"),
        ("a.mat", b"MATLAB 5.0 MAT-file, Platform: GLNXA64", "scipy.io.loadmat('a.mat')"),
        ("b.mat", b"MATLAB 7.3 MAT-file, Platform: GLNXA64", "h5py.File('b.mat')"),
        ("old.mat", b"\0\0\0\0\x03\0\0\0", "scipy.io.loadmat('old.mat')"),
        ("a.h5", b"\x89HDF\r\n\x1a\n", "h5py.File('a.h5')"),
        ("a.xlsx", &zip("[Content_Types].xml"), "pandas.read_excel('a.xlsx').to_csv('a.csv', index=False)"),
        ("a.csv", &zip("xl/workbook.xml"), "this is an Excel workbook"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "pandas.read_excel('a.xls')"),
        ("a.ods", &zip("mimetype"), "pandas.read_excel('a.ods')"),
        ("a.zip", &zip("table.csv"), "unzip a.zip"),
        ("a.rdata", b"RDX3\nX\n\0\0\0\x03", "get(load('a.rdata')[1])"),
        ("a.sav", b"$FL2@(#) SPSS", "pandas.read_spss('a.sav')"),
        ("a.dta", b"<stata_dta><header>", "pandas.read_stata('a.dta')"),
        ("text.xls", b"a\tb\n1\t2\n", "rename it to end in .csv"),
        ("it's.bmp", &bmp, "Image.open('FILE').save('FILE.png')"),
    ] {
        desk.write(name, bytes);
        let said = Said::of(&desk.command("inspect").arg(name).output().unwrap());
        assert_eq!(said.code, Some(2), "{name}: {}", said.err);
        assert!(said.err.contains(words), "{name}: {}", said.err);
    }
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let desk = Desk::new();
    desk.write("d.csv", table("b"));
    desk.write(".katoms-a1B2c3.part", "half of a model");
    desk.succeeds("fit d.csv --target y -k 1 --out m.json -q");
    assert_eq!(desk.files(), ["d.csv", "m.json"]);
}

/// Memory that the system does not give ends with a message, whether it was asked for before it was used or not.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_ends_with_a_message() {
    let desk = Desk::new();
    // 4 GB of whole numbers, which are not mapped; on disk they are a hole
    let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (1000000000,), }";
    let file = desk.write("zeros.npy", [b"\x93NUMPY\x01\0v\0", format!("{header:<117}\n").as_bytes()].concat());
    fs::File::options().write(true).open(file).unwrap().set_len(128 + 4_000_000_000).unwrap();
    let (rows, measured) = (example("signal_rows.npy"), example("signal_measured.npy"));
    let program = env!("CARGO_BIN_EXE_katoms");
    for (words, expected) in [
        ("inspect zeros.npy".into(), "zeros.npy: it needs 3.7 GiB of memory at once, more than the system gives"),
        (
            format!("recover --operator dct --length 9999999999 --rows {rows} -b {measured} -k 3"),
            "more than the system",
        ),
    ] {
        let script = format!("ulimit -v 2000000; RUST_BACKTRACE=0 '{program}' {words}");
        let said = Said::of(&Command::new("bash").args(["-c", &script]).current_dir(desk.path("")).output().unwrap());
        assert_eq!(said.code, Some(2), "{words}: {said:?}");
        assert!(said.err.contains("katoms: ") && said.err.contains(expected), "{words}: {said:?}");
    }
}
