//! Files of groups.
//!
//! | format | what it holds |
//! |---|---|
//! | GMT | a line for each group: name, description, members, separated by tabs |
//! | CSV | a row for each member: name, member; a header `name,member` may come first |
//! | JSON | an object: name → list of members; or a list of `{"name": …, "members": […]}` |
//!
//! A member is a feature, or a column, which stands for all its indicators. Features in no group become groups of
//! their own, the indicators of a column together.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::dataset::types::{Feature, Group, UnknownMembers};
use crate::error::{Error, bad_at, place_and_problem};
use crate::format::csv;
use crate::names::{Names, counted};
use crate::problem::short;

/// The unknown members that a message names.
const NAMED: usize = 5;

/// The groups of a file, and what a person should know of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupFile {
    /// The groups; every feature is in at least one.
    pub groups: Vec<Group>,
    /// What was left out.
    pub notes: Vec<String>,
}

/// A name, and its line where the format has lines.
type Placed = (String, Option<u64>);

/// A group as the file has it.
struct Named {
    name: Placed,
    members: Vec<Placed>,
}

/// The groups of a file. Its extension says what it is (`.gmt`, `.csv`, `.tsv`, `.json`); else its first bytes do.
///
/// # Errors
/// When it is not what it says, a group is empty or named twice, or a member is unknown.
pub fn read_groups(path: &Path, features: &[Feature], unknown: UnknownMembers) -> Result<GroupFile, Error> {
    let bytes = std::fs::read(path);
    let bytes = bytes.map_err(|error| Error::System { path: path.into(), what: "cannot be read", error })?;
    groups_of(path, &bytes, features, unknown)
}

/// The same for a file of this name and these bytes.
///
/// # Errors
/// As [`read_groups`].
pub fn groups_of(path: &Path, bytes: &[u8], features: &[Feature], unknown: UnknownMembers) -> Result<GroupFile, Error> {
    let file = File { path };
    let text =
        std::str::from_utf8(bytes).map_err(|_| file.error(None, "the text is not UTF-8; save it as UTF-8".into()))?;
    let text = text.trim_start_matches('\u{feff}');
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let named = match extension.as_str() {
        "json" => file.json(text)?,
        "gmt" => file.gmt(text)?,
        "csv" | "tsv" => file.csv(text)?,
        _ if text.trim_start().starts_with(['{', '[']) => file.json(text)?,
        _ if text.lines().next().is_some_and(|line| line.contains('\t')) => file.gmt(text)?,
        _ => file.csv(text)?,
    };
    file.check(&named)?;
    file.resolved(named, features, unknown)
}

/// The file, for messages.
struct File<'f> {
    path: &'f Path,
}

impl File<'_> {
    fn error(&self, line: Option<u64>, problem: String) -> Error {
        let place = line.map(|l| format!(", line {l}")).unwrap_or_default();
        bad_at(self.path, place, problem)
    }

    fn gmt(&self, text: &str) -> Result<Vec<Named>, Error> {
        let mut groups = Vec::new();
        for (line, content) in (1..).zip(text.lines()).filter(|(_, content)| !content.trim().is_empty()) {
            let mut fields = content.split('\t').map(str::trim);
            let name = fields.next().unwrap_or_default();
            let has_description = fields.next().is_some();
            let members: Vec<&str> = fields.filter(|m| !m.is_empty()).collect();
            if name.is_empty() || !has_description || members.is_empty() {
                let problem = "a group is a name, a description and at least one member, separated by tabs";
                return Err(self.error(Some(line), problem.into()));
            }
            let placed = |name: &str| (name.into(), Some(line));
            groups.push(Named { name: placed(name), members: members.into_iter().map(placed).collect() });
        }
        Ok(groups)
    }

    /// Rows of one name may stand anywhere: they are one group.
    fn csv(&self, text: &str) -> Result<Vec<Named>, Error> {
        let delimiter = csv::sniff::delimiter(text.as_bytes());
        let mut reader = csv::text::reader(text.as_bytes(), csv::text::Cut::by(delimiter));
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut groups: Vec<Named> = Vec::new();
        for (i, record) in reader.byte_records().enumerate() {
            let record = record.map_err(|error| self.error(None, error.to_string()))?;
            let line = Some(csv::text::line_of(text.as_bytes(), &record, None));
            let field = |i: usize| record.get(i).map(|f| String::from_utf8_lossy(f).trim().to_owned());
            let (Some(name), Some(member), 2) = (field(0), field(1), record.len()) else {
                let found = counted(record.len(), "field");
                return Err(self.error(line, format!("{found} found; a row is the name of a group and one member")));
            };
            if name.is_empty() || member.is_empty() {
                return Err(self.error(line, "an empty field; a row is the name of a group and one member".into()));
            }
            if i == 0 && is_header(&name, &member) {
                continue;
            }
            let place = *places.entry(name.clone()).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Named { name: (name, line), members: Vec::new() });
            }
            groups[place].members.push((member, line));
        }
        Ok(groups)
    }

    fn json(&self, text: &str) -> Result<Vec<Named>, Error> {
        let JsonGroups(groups) = serde_json::from_slice(text.as_bytes()).map_err(|error| {
            let (place, problem) = place_and_problem(&error);
            bad_at(
                self.path,
                place,
                format!("{problem}; groups are an object of lists, or a list of names with members"),
            )
        })?;
        let placed = |name: String| (name, None);
        let named = |(name, members): (String, Vec<String>)| Named {
            name: placed(name),
            members: members.into_iter().map(placed).collect(),
        };
        Ok(groups.into_iter().map(named).collect())
    }

    fn check(&self, groups: &[Named]) -> Result<(), Error> {
        if groups.is_empty() {
            return Err(self.error(None, "there is no group in it".into()));
        }
        let mut seen = HashSet::new();
        for Named { name: (name, line), members } in groups {
            let problem = match (name.as_str(), members.is_empty(), seen.insert(name)) {
                ("", ..) => "a group without a name".into(),
                (_, true, _) => format!("group \"{}\" is empty; it needs a member", short(name)),
                (_, _, false) => format!("group \"{}\" is there twice; give it one place", short(name)),
                _ => continue,
            };
            return Err(self.error(*line, problem));
        }
        Ok(())
    }

    /// The groups by the places of their features.
    fn resolved(&self, named: Vec<Named>, features: &[Feature], unknown: UnknownMembers) -> Result<GroupFile, Error> {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (i, feature) in features.iter().enumerate() {
            places.entry(&feature.column).or_default().push(i);
        }
        // a feature's own name counts more than a column's
        places.extend(
            features.iter().enumerate().filter(|(_, f)| f.level.is_some()).map(|(i, f)| (f.name.as_str(), vec![i])),
        );
        let (mut groups, mut strange, mut emptied) = (Vec::new(), Vec::new(), 0);
        for group in named {
            let mut members = BTreeSet::new();
            for member in group.members {
                match places.get(member.0.as_str()) {
                    Some(found) => members.extend(found),
                    None => strange.push((group.name.0.clone(), member)),
                }
            }
            if members.is_empty() {
                emptied += 1;
            } else {
                groups.push(Group { name: group.name.0, members: members.into_iter().collect() });
            }
        }
        let mut notes = Vec::new();
        if !strange.is_empty() {
            if unknown == UnknownMembers::Refuse || groups.is_empty() {
                return Err(self.strangers(&strange, features));
            }
            let n = counted(strange.len(), "member");
            let gone = if emptied > 0 {
                format!(", and {} left empty by that", counted(emptied, "group"))
            } else {
                String::new()
            };
            notes.push(format!("{}: {n} of groups that the data do not have left out{gone}", self.path.display()));
        }
        add_singles(&mut groups, features);
        Ok(GroupFile { groups, notes })
    }

    fn strangers(&self, strange: &[(String, Placed)], features: &[Feature]) -> Error {
        let (first, line) = strange.first().map(|(_, (name, line))| (name.as_str(), *line)).unwrap_or_default();
        let shown = strange.iter().take(NAMED);
        let shown: Vec<String> =
            shown.map(|(group, (name, _))| format!("\"{}\" (in {})", short(name), short(group))).collect();
        let more = strange.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let nearest = Names::new(features.iter().map(|f| f.column.as_str())).nearest(first);
        let nearest = nearest.map(|n| format!(" (did you mean \"{}\"?)", short(n))).unwrap_or_default();
        let (n, list) = (counted(strange.len(), "member"), shown.join(", "));
        let problem = format!(
            "{n} of groups that the data do not have: {list}{more}{nearest}; correct them, or leave them out \
             (--unknown-members skip)"
        );
        self.error(line, problem)
    }
}

/// One group for each column.
pub(crate) fn by_column(features: &[Feature]) -> Vec<Group> {
    let mut groups = Vec::new();
    add_singles(&mut groups, features);
    groups
}

/// Features in no group become groups of their own, the indicators of a column together.
fn add_singles(groups: &mut Vec<Group>, features: &[Feature]) {
    let covered: HashSet<usize> = groups.iter().flat_map(|g| g.members.iter().copied()).collect();
    let mut taken: HashSet<String> = groups.iter().map(|g| g.name.clone()).collect();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (i, feature) in features.iter().enumerate().filter(|(i, _)| !covered.contains(i)) {
        if let Some(group) = places.get(feature.column.as_str()).and_then(|&p| groups.get_mut(p)) {
            group.members.push(i);
            continue;
        }
        let mut name = feature.column.clone();
        if !taken.insert(name.clone()) {
            name += " (column)";
        }
        places.insert(&feature.column, groups.len());
        groups.push(Group { name, members: vec![i] });
    }
}

fn is_header(name: &str, member: &str) -> bool {
    let (name, member) = (name.to_ascii_lowercase(), member.to_ascii_lowercase());
    ["name", "group", "set", "pathway", "gene_set"].contains(&name.as_str())
        && ["member", "members", "feature", "column", "variable", "gene"].contains(&member.as_str())
}

/// Groups in either form; names that come twice are kept twice.
struct JsonGroups(Vec<(String, Vec<String>)>);

#[derive(Deserialize)]
struct JsonGroup {
    name: String,
    members: Vec<String>,
}

impl<'de> Deserialize<'de> for JsonGroups {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = JsonGroups;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or a list")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonGroups, A::Error> {
                let mut groups = Vec::new();
                while let Some(group) = map.next_entry()? {
                    groups.push(group);
                }
                Ok(JsonGroups(groups))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonGroups, A::Error> {
                let mut groups = Vec::new();
                while let Some(JsonGroup { name, members }) = list.next_element()? {
                    groups.push((name, members));
                }
                Ok(JsonGroups(groups))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests;
