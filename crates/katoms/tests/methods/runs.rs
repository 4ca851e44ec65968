//! Runs, as the test files share them.

use katoms::driver::{Constraint, Options, Run, Stages, lockstep};
use katoms::loss::Loss;
use katoms::method::Method;
use katoms::operator::LinearOperator;
use katoms::{Objective, Outcome, Stop};

/// A run to its end, without the statement of quality.
pub fn run<A, L, S, M>(f: &Objective<A, L>, set: &S, method: &M, options: Options) -> Outcome<A::Point>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    finished(Run::new(f, set, method, options).unwrap())
}

pub fn finished<A, L, S, M>(mut run: Run<'_, A, L, S, M>) -> Outcome<A::Point>
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    while !run.is_done() {
        run.step();
    }
    run.outcome_unchecked()
}

pub fn to_gap(gap: f64, iterations: usize) -> Options {
    Options { stop: Stop { gap, iterations, ..Stop::default() }, ..Options::default() }
}

pub fn capped(iterations: usize, stages: Stages) -> Options {
    Options { stop: Stop { iterations, ..Stop::default() }, stages, ..Options::default() }
}

/// A run that is saved after a few moves and resumed, and one beside another, makes the moves of one that is left alone.
#[track_caller]
pub fn goes_on<A, L, S, M>(objectives: [&Objective<A, L>; 2], set: &S, method: &M, options: &Options)
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    let alone = objectives.map(|f| run(f, set, method, options.clone()));
    for moves in [1, 5] {
        let mut first = Run::new(objectives[0], set, method, options.clone()).unwrap();
        while !first.is_done() && first.trace().len() < moves {
            first.step();
        }
        if first.is_done() {
            continue;
        }
        let second = Run::resume(objectives[0], set, method, options.clone(), &first.save().unwrap()).unwrap();
        let (second, alone) = (finished(second), &alone[0]);
        assert_eq!((second.status, second.iterations, second.passes), (alone.status, alone.iterations, alone.passes));
        assert_eq!(second.point, alone.point, "{}", method.label());
    }
    let mut together = objectives.map(|f| Run::new(f, set, method, options.clone()).unwrap());
    lockstep(&mut together).unwrap();
    for (together, alone) in together.into_iter().zip(alone) {
        let together = together.outcome_unchecked();
        assert_eq!((together.point, together.passes), (alone.point, alone.passes), "{}", method.label());
    }
}

/// A method whose options are refused, with an error that holds these words.
#[track_caller]
pub fn refused<A, L, S, M>(f: &Objective<A, L>, set: &S, method: &M, words: &str)
where
    A: LinearOperator,
    L: Loss,
    S: Constraint<A, L>,
    M: Method<A, L, S>,
{
    let error = Run::new(f, set, method, Options::default()).err().unwrap().to_string();
    assert!(error.contains(words), "{error}");
}
