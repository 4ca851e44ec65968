//! What the name of a column says of it.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Row,
    Column,
    Value,
    Time,
    /// A label that says no more.
    Label,
}

const ROWS: &str = "row user person people customer client member rater reviewer viewer reader listener buyer student subject \
    patient respondent participant sample who i";
const COLUMNS: &str = "column col item film movie product book song track artist album title article game restaurant recipe joke \
    question gene what j";
const VALUES: &str = "value val rating score star grade mark preference entry data count plays x";
const TIMES: &str = "time timestamp ts date datetime day when created updated";
/// Words that say of another one that it labels something.
const LABELS: &str = "id ids uid uuid index idx key name nr no number code unnamed";

/// What the name of a column says of it, by the last word that is no label: `user_id`, `movieId`, `Review Score`.
pub fn role(name: &str) -> Option<Role> {
    let words = words(name);
    let Some(word) = words.iter().rev().find(|word| !is_in(LABELS, word) && !is_number(word)) else {
        return words.iter().any(|word| is_in(LABELS, word)).then_some(Role::Label);
    };
    let listed = |list: &str| is_in(list, word) || is_in(list, word.strip_suffix('s').unwrap_or(word));
    [(ROWS, Role::Row), (COLUMNS, Role::Column), (VALUES, Role::Value), (TIMES, Role::Time)]
        .into_iter()
        .find(|(list, _)| listed(list))
        .map(|(_, role)| role)
}

/// Whether a name says that its column labels something: `customer_id`, `Nr`.
pub fn is_label(name: &str) -> bool {
    words(name).iter().any(|word| is_in(LABELS, word) && word != "number" && word != "name")
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of a name, in lower case: what anything but letters and digits separates, or a capital starts.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut was_lower) = (vec![String::new()], false);
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
