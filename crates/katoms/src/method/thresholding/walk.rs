//! What methods share that may raise f on their way: the point they stand at, and the best one so far.

use serde::{Deserialize, Serialize};

use crate::method::refit::refit;
use crate::method::smooth::Smooth;
use crate::method::{Move, Progress, relative_change};
use crate::objective::Evaluated;
use crate::space::{Covector, Point};

/// Two points this close, relative to their norm, are one.
const SAME: f64 = 1e-12;

/// Where such a method stands. Its answer is the best point so far.
///
/// A walk that only depends on where it stands ends in a fixed point or in a cycle. A cycle is found as by
/// Brent: one point of the past is kept, and moved on after 1, 2, 4, … steps. Where a step or a momentum is remembered
/// too, a return to the same point need not be a cycle; the run ends there all the same, as stalled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "P: Point")]
pub struct Walk<P> {
    x: Evaluated<P>,
    best: Evaluated<P>,
    lowest: f64,
    marked: P,
    since_mark: usize,
    until_mark: usize,
}

impl<P: Point> Walk<P> {
    pub(super) fn starting_at<G: Covector<P>>(f: &dyn Smooth<P, G>, x: Evaluated<P>) -> Self {
        let (lowest, marked) = (f.value(&x), x.point().clone());
        Self { best: x.clone(), x, lowest, marked, since_mark: 0, until_mark: 1 }
    }

    /// Where the walk stands.
    pub(super) fn here(&self) -> &Evaluated<P> {
        &self.x
    }

    /// The best point so far.
    pub(super) fn best(&self) -> &Evaluated<P> {
        &self.best
    }

    /// On to the next point. The objective told is the answer's, and so is the change where the walk left
    /// the answer behind: a walk that settles at a worse point has not converged to the answer.
    pub(super) fn go<G: Covector<P>>(&mut self, f: &dyn Smooth<P, G>, next: Evaluated<P>) -> Progress {
        let there = f.value(&next);
        if !there.is_finite() {
            return Progress::still(there, Move::Stalled); // the driver calls it diverged
        }
        let stays = next.point() == self.x.point();
        if there < self.lowest {
            (self.lowest, self.best) = (there, next.clone());
        }
        let moved = Progress::moved(self.lowest, next.point(), self.x.point());
        let astray = relative_change(next.point(), self.best.point());
        let change = moved.change.max(astray);
        let kind = if stays && change == 0.0 {
            Move::Fixed
        } else if (self.returned(next.point()) || moved.change <= SAME) && change > SAME {
            Move::Stalled // a cycle, or settled at a worse point
        } else {
            Move::Moved
        };
        self.x = next;
        Progress { change, kind, ..moved }
    }

    /// Whether the walk is back at the marked point.
    fn returned(&mut self, next: &P) -> bool {
        let returned = relative_change(next, &self.marked) <= SAME;
        self.since_mark += 1;
        if self.since_mark == self.until_mark {
            (self.marked, self.since_mark) = (next.clone(), 0);
            self.until_mark *= 2;
        }
        returned
    }

    /// No way on from here.
    pub(super) fn still(&self, kind: Move) -> Progress {
        let change = relative_change(self.x.point(), self.best.point());
        let kind = if kind == Move::Fixed && change > 0.0 { Move::Stalled } else { kind };
        Progress { change, ..Progress::still(self.lowest, kind) }
    }

    /// The answer, optimised over its support.
    pub(super) fn refit<G: Covector<P>>(&mut self, f: &dyn Smooth<P, G>) {
        let support = self.best.point().support();
        self.best = refit(f, self.best.clone(), &support).point;
        self.lowest = f.value(&self.best);
        self.restart();
    }

    /// Back to the answer.
    pub(super) fn restart(&mut self) {
        self.x = self.best.clone();
        self.marked = self.x.point().clone();
        (self.since_mark, self.until_mark) = (0, 1);
    }
}
