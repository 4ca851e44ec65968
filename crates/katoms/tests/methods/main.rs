//! Every method of the catalogue: planted problems, equivalences, pass counts. One file for each family.

#[path = "../planted/mod.rs"]
mod planted;

mod lasso;

#[test]
fn smoke() {}
