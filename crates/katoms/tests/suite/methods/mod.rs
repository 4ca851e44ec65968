//! Every method of the catalogue: planted problems, equivalences, pass counts. One file for each family.

mod thresholding;
mod thresholding_rank;
