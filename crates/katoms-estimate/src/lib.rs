//! Whole jobs, with every choice made at run time: which storage, which loss, which atoms, which method.
//!
//! The program and the Python package make these choices when they see the data. Here is the one place where what
//! they may choose from is compiled. No files, no printing: a [`Watch`] hears how the work goes on.
//!
//! | job | begins with |
//! |---|---|
//! | k features or groups that predict a target | [`Features`] |
//! | a matrix of rank k from some of its entries | [`complete`] |
//! | a signal of k entries from few measurements | [`recover`] |

mod budget;
mod completion;
mod condensed;
mod features;
mod measure;
mod recovery;
mod response;
mod resumed;
mod running;
mod scale;
pub mod score;
mod threads;
mod units;
mod watch;
pub mod words;

pub use completion::{
    Bounds, Centring, Clip, Columns, Completed, CompletedMatrix, Completion, Effects, FactorModel, Observed, RowModel,
    RowPrior, Rule, Trial, complete, reserved,
};
pub use condensed::condensed;
pub use features::{
    EachResponse, Edge, Estimate, Features, FitOptions, Heredity, Interactions, Nuisance, PathModel, PathModels,
    Product, ResponseSizes, SeparateModels, Trained, WithProducts, choice_of_each, sizes_between,
};
pub use measure::{accuracy, concordance, explained, log_probability, r_squared};
pub use recovery::{Places, Recovered, Recovery, recover};
pub use response::{JobLoss, NumberLoss, Response, Values, classes_of_one_row, drawn_folds, offset_of};
pub use score::{Linear, Measure, auc};
pub use threads::{cores, threads};
pub use watch::{Answer, Phase, Progress, Unwatched, Watch};
