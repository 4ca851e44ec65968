//! Files of groups in every format, and what is wrong with them.

use std::path::PathBuf;

use super::*;
use crate::tests::{self, feature};

fn features() -> Vec<Feature> {
    ["age", "city=Bonn", "city=Ulm", "height", "weight"].map(feature).to_vec()
}

/// Reads a file in a folder of its own.
fn read(name: &str, text: &str, unknown: UnknownMembers) -> Result<GroupFile, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path: PathBuf = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    read_groups(&path, &features(), unknown)
}

/// What is wrong, from the file's name on.
fn problem(name: &str, text: &str) -> String {
    let message = read(name, text, UnknownMembers::Refuse).unwrap_err().to_string();
    message[message.find(name).unwrap()..].to_owned()
}

fn group(name: &str, members: &[usize]) -> Group {
    Group { name: name.into(), members: members.into() }
}

#[test]
fn every_format_gives_the_same_groups() {
    let expected = vec![group("body", &[3, 4]), group("where", &[1, 2, 3]), group("age", &[0])];
    for (name, text) in [
        ("g.gmt", "body\thttp://x\theight\tweight\nwhere\t\tcity\theight\theight\n"),
        ("g.gmt", "body\tna\tweight\theight\r\n\r\nwhere\tna\tcity=Ulm\tcity=Bonn\theight\t\r\n"),
        ("g.csv", "name,member\nbody,height\nbody,weight\nwhere,city\nwhere,height\n"),
        ("g.csv", "\u{feff}body;height\nwhere;city\nbody;weight\nwhere;height\n"),
        ("g.tsv", "body\theight\nbody\tweight\nwhere\tcity\nwhere\theight\n"),
        ("g.json", r#"{"body": ["height", "weight"], "where": ["city", "height"]}"#),
        (
            "g.json",
            r#"[{"name": "body", "members": ["height", "weight"]}, {"name": "where", "members": ["height", "city"]}]"#,
        ),
        ("g.txt", "body\tx\theight\tweight\nwhere\tx\tcity\theight\n"),
        ("g", r#" {"body": ["height", "weight"], "where": ["city", "height"]}"#),
    ] {
        let read = read(name, text, UnknownMembers::Refuse).unwrap();
        assert_eq!((read.groups, read.notes), (expected.clone(), vec![]), "{text}");
    }
}

#[test]
fn what_is_in_no_group_is_one_of_its_own() {
    let read = read("g.csv", "age,weight\nb,city=Ulm\n", UnknownMembers::Refuse).unwrap();
    let expected =
        [group("age", &[4]), group("b", &[2]), group("age (column)", &[0]), group("city", &[1]), group("height", &[3])];
    assert_eq!(read.groups, expected);
}

#[test]
fn unknown_members_are_refused_or_skipped() {
    assert_eq!(
        problem("g.gmt", "a\tx\theight\nb\tx\tTP53\tage\thieght\n"),
        "g.gmt, line 2: 2 members of groups that the data do not have: \"TP53\" (in b), \"hieght\" (in b); correct \
         them, or leave them out (--unknown-members skip)"
    );
    assert_eq!(
        problem("g.csv", "a,height\na,wieght\n"),
        "g.csv, line 2: 1 member of groups that the data do not have: \"wieght\" (in a) (did you mean \"weight\"?); \
         correct them, or leave them out (--unknown-members skip)"
    );
    assert!(problem("g.json", r#"{"a": ["1", "2", "3", "4", "5", "6", "7"]}"#).contains("\"5\" (in a) and 2 more"));
    let skipped = read("g.gmt", "a\tx\theight\tBRCA1\nb\tx\tTP53\n", UnknownMembers::Skip).unwrap();
    assert_eq!(skipped.groups[0], group("a", &[3]));
    assert!(!skipped.groups.iter().any(|g| g.name == "b"));
    assert!(
        skipped.notes[0]
            .ends_with("2 members of groups that the data do not have left out, and 1 group left empty by that")
    );
    assert!(read("g.gmt", "b\tx\tTP53\n", UnknownMembers::Skip).is_err());
}

#[test]
fn files_that_are_not_what_they_say() {
    let line = "a group is a name, a description and at least one member, separated by tabs";
    assert_eq!(problem("g.gmt", "a\tx\tage\n\nb age weight\n"), format!("g.gmt, line 3: {line}"));
    assert_eq!(problem("g.gmt", "a\tx\n"), format!("g.gmt, line 1: {line}"));
    assert_eq!(problem("g.gmt", "\n"), "g.gmt: there is no group in it");
    assert_eq!(problem("g.csv", "name,member\n"), "g.csv: there is no group in it");
    assert_eq!(
        problem("g.csv", "a,age\na,height\na,weight,age\n"),
        "g.csv, line 3: 3 fields found; a row is the name of a group and one member"
    );
    assert_eq!(
        problem("g.csv", "a,age\nb,\n"),
        "g.csv, line 2: an empty field; a row is the name of a group and one member"
    );
    let form = "groups are an object of lists, or a list of names with members";
    assert_eq!(
        problem("g.json", "{\"a\": [\"age\"}"),
        format!("g.json, line 1, column 13: expected `,` or `]`; {form}")
    );
    assert!(problem("g.json", "[{\"name\": \"a\"}]").contains("missing field `members`"));
    assert!(problem("g.json", "3").ends_with(form));
    assert!(problem("g.json", "{\"a\": \"age\"}").ends_with(form));
    let dir = tempfile::tempdir().unwrap();
    assert!(read_groups(&dir.path().join("none.gmt"), &features(), UnknownMembers::Refuse).is_err());
}

#[test]
fn empty_groups_and_names_that_come_twice() {
    assert_eq!(problem("g.json", r#"{"a": ["age"], "b": []}"#), "g.json: group \"b\" is empty; it needs a member");
    assert_eq!(
        problem("g.json", r#"{"a": ["age"], "a": ["height"]}"#),
        "g.json: group \"a\" is there twice; give it one place"
    );
    assert_eq!(
        problem("g.gmt", "a\tx\tage\na\tx\theight\n"),
        "g.gmt, line 2: group \"a\" is there twice; give it one place"
    );
    assert_eq!(problem("g.json", r#"{"": ["age"]}"#), "g.json: a group without a name");
}

#[test]
fn a_data_set_takes_the_groups_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("g.csv");
    std::fs::write(&path, "g,a\ng,c\n").unwrap();
    let text = "a,b,c,y\n1,2,u,3\n2,3,v,4\n5,6,u,1\n";
    let ask = crate::Ask { target: Some("y".into()), groups: Some(path), ..crate::Ask::default() };
    let data = crate::Dataset::new(tests::csv(text, &crate::ReadOptions::default()), &ask).unwrap();
    assert_eq!(data.groups, Some(vec![group("g", &[0, 2]), group("b", &[1])]));
}
