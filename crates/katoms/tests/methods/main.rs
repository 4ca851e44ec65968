//! Every method of the catalogue: planted problems, equivalences, pass counts. One file for each family.

mod balls;
mod by_name;
mod frank_wolfe;
mod greedy;
mod group_lasso;
mod lasso;
mod low_rank;
mod nuclear;
#[path = "../suite/planted.rs"]
mod planted;
mod proximal;
mod thresholding;
mod thresholding_rank;
