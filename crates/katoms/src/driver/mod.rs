//! Runs any method: takes the gradient at the query, hands it to the method, applies the stop
//! rules, tells the observer, keeps the clock and the counts.
//!
//! Because the driver owns the gradient, [many fits share a pass](lockstep), a run can be
//! [saved and resumed](Run::save), [k can grow in stages](Stages) under any method, and [a share of the rows](Partial)
//! may serve the search for atoms.

mod ball;
mod checkpoint;
mod constraint;
mod lockstep;
mod outcome;
mod partial;
mod quality;
mod recession;
mod run;
mod stages;
mod stop;
mod trace;

pub use ball::frank_wolfe_gap;
pub use constraint::Constraint;
pub use lockstep::lockstep;
pub(crate) use lockstep::{lockstep_of_sizes, lockstep_while};
pub use outcome::{Attempt, Outcome, Start, Status};
pub use partial::Partial;
pub(crate) use partial::Reference;
pub use quality::{Certificate, NearTie, Quality, stationarity};
pub use run::{Options, Run, solve};
pub(crate) use run::{check, check_domain};
pub use stages::Stages;
pub use stop::Stop;
pub use trace::{Event, Trace};
