//! Every method of the table: planted problems, equivalences, pass counts. One file for each family; `conduct` has what all
//! of them must do.

mod balls;
mod conduct;
mod frank_wolfe;
mod greedy;
mod group_lasso;
mod lasso;
mod low_rank;
mod nuclear;
#[path = "../suite/planted.rs"]
mod planted;
mod proximal;
mod runs;
mod thresholding;
mod thresholding_rank;
