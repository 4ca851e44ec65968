//! Every method of the catalogue: planted problems, equivalences, pass counts. One file for each family.

mod balls;
mod frank_wolfe;
#[path = "../planted/mod.rs"]
mod planted;
