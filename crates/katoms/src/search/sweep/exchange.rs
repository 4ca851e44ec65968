//! Many coordinates leave S and others come in their place, in one move.
//!
//! | | code | |
//! |---|---|---|
//! | A, J, K = S \ A | `out`, `into`, `stay` | what leaves, comes and stays |
//! | C = ((G_SS⁻¹)_AA)⁻¹ | `schur_out` | the Schur complement of A: what K leaves of G_AA |
//! | F = C·(G_SS⁻¹)_AK | `regression_out`, its transpose | −G_AK·G_KK⁻¹: A as seen from K, with the other sign |
//! | H = B_JK − B_JA·F | `regression_into`, its transpose | G_JK·G_KK⁻¹: J as seen from K |
//! | D = (G_JJ − H·G_KJ)⁻¹ | `precision_into` | the inverse of the Schur complement of J |
//! | C·x_A; ρ_J + B_JA·C·x_A | `pull`; `slopes` | what A pulled; −∇f along J once it has left |
//!
//! f falls by ½·ρ_Jᵀ·D·ρ_J − ½·x_Aᵀ·C·x_A. Then for the rows of all coordinates, with T = B_A and W = G_J − B_K·G_KJ +
//! T·F·G_KJ: B_K falls by T·F + W·D·H, and B_J is W·D. That is what [`Sweep::leave`] and [`Sweep::enter`] do for one
//! coordinate after the other, in products of matrices: n·|S|·(|A| + 2·|J|) multiplications where the minimum from scratch takes
//! n·|S|².

use super::{DEPENDENT, PARALLEL_WORK, Quadratic, ROWS, Strip, Sweep};
use crate::linalg::kernels::axpy;
use crate::linalg::{Cholesky, Matrix, View, add_product, dot, parallel, sound_cholesky};

/// Where more than one in so many coordinates is exchanged, the minimum from scratch is less work: see above.
const SHARE: usize = 3;
/// Rows of the inverse that one task makes.
const TOGETHER: usize = 16;

/// A minimum over other coordinates, so far as f there is known.
pub(in crate::search) enum Moved {
    /// From scratch.
    Anew(Sweep),
    /// From here.
    Exchanged(Box<Exchange>),
}

/// An exchange: see above. A and K are positions in S.
pub(in crate::search) struct Exchange {
    out: Vec<usize>,
    stay: Vec<usize>,
    into: Vec<usize>,
    schur_out: Matrix,
    regression_out: Matrix,
    regression_into: Matrix,
    /// G_KJ.
    shared: Matrix,
    precision_into: Matrix,
    pull: Matrix,
    slopes: Matrix,
    objective: f64,
}

impl Sweep {
    /// The way to the minimum over these coordinates; `None` where they are dependent, or f is not below `most` there.
    pub fn toward(&self, q: &dyn Quadratic, coordinates: &[usize], most: f64) -> Option<Moved> {
        let mut stays = vec![false; self.inside.len()];
        let mut into = Vec::new();
        for &j in coordinates {
            match self.position[j] {
                Some(position) => stays[position] = true,
                None => into.push(j),
            }
        }
        let (stay, out): (Vec<usize>, Vec<usize>) = (0..stays.len()).partition(|&p| stays[p]);
        if SHARE * into.len().max(out.len()) > self.inside.len() {
            return Self::minimum(q, coordinates, most).map(Moved::Anew);
        }
        self.exchange(q, (out, stay, into), most).map(|exchange| Moved::Exchanged(Box::new(exchange)))
    }

    /// Exchanges two coordinates, one inside and one outside; `None` where the other depends on those that stay.
    pub fn swap(&mut self, q: &dyn Quadratic, out: usize, into: usize) -> Option<()> {
        let position = self.position[out]?;
        let stay = (0..self.inside.len()).filter(|&p| p != position).collect();
        let exchange = self.exchange(q, (vec![position], stay, vec![into]), f64::INFINITY)?;
        self.follow(q, Moved::Exchanged(Box::new(exchange)));
        Some(())
    }

    /// Whether there is work for more than one thread in a move: then many products are worth what prepares them.
    pub fn is_large(&self) -> bool {
        self.position.len() * self.inside.len() >= PARALLEL_WORK
    }

    /// What an exchange of these positions and coordinates makes, worked out for S alone.
    fn exchange(
        &self,
        q: &dyn Quadratic,
        (out, stay, into): (Vec<usize>, Vec<usize>, Vec<usize>),
        most: f64,
    ) -> Option<Exchange> {
        q.prepare(&into);
        let inverse = |rows: &[usize]| Matrix::from_fn(rows.len(), out.len(), |i, j| self.inverse[rows[i]][out[j]]);
        let schur_out = Cholesky::new(inverse(&out))?.inverse();
        let regression_out = inverse(&stay).times(&schur_out);
        let left = Matrix::from_fn(out.len(), into.len(), |p, j| self.regression(into[j], out[p]));
        let regression_into = Matrix::from_fn(stay.len(), into.len(), |p, j| self.regression(into[j], stay[p]));
        let regression_into = regression_into.plus(-1.0, &regression_out.times(&left));
        let columns: Vec<&[f64]> = into.iter().map(|&j| q.column(j)).collect();
        let shared = Matrix::from_fn(stay.len(), into.len(), |p, j| columns[j][self.inside[stay[p]]]);
        let own = Matrix::from_fn(into.len(), into.len(), |i, j| columns[j][into[i]]);
        let least: Vec<f64> = into.iter().map(|&j| DEPENDENT * q.diagonal()[j]).collect();
        let factor = sound_cholesky(own.plus(-1.0, &regression_into.transposed_times(&shared)), &least)?;
        let values = Matrix::from_fn(out.len(), self.responses, |p, c| self.values_at(out[p])[c]);
        let pull = schur_out.times(&values);
        let slopes = Matrix::from_fn(into.len(), self.responses, |j, c| self.slopes_at(into[j], c));
        let slopes = slopes.plus(1.0, &left.transposed_times(&pull));
        let fall = |c| 0.5 * dot(slopes.column(c), &factor.solve(slopes.column(c)));
        let objective = self.objective + 0.5 * values.dot(&pull) - (0..self.responses).map(fall).sum::<f64>();
        if !(objective < most) {
            return None;
        }
        let precision_into = factor.inverse();
        Some(Exchange {
            out,
            stay,
            into,
            schur_out,
            regression_out,
            regression_into,
            shared,
            precision_into,
            pull,
            slopes,
            objective,
        })
    }

    fn slopes_at(&self, j: usize, response: usize) -> f64 {
        let strip = &self.strips[j / ROWS];
        strip.slopes[response * strip.len() + j % ROWS]
    }

    /// Goes there.
    pub fn follow(&mut self, q: &dyn Quadratic, moved: Moved) {
        let exchange = match moved {
            Moved::Anew(sweep) => {
                *self = sweep;
                return self.complete(q);
            }
            Moved::Exchanged(exchange) => exchange,
        };
        let Exchange {
            out,
            stay,
            into,
            regression_out,
            regression_into,
            shared,
            precision_into,
            pull,
            slopes,
            objective,
            ..
        } = &*exchange;
        let columns: Vec<&[f64]> = into.iter().map(|&j| q.column(j)).collect();
        let through = regression_out.transposed_times(shared);
        let across = regression_out.beside(regression_into);
        super::for_each(&mut self.strips, self.inside.len(), &|_, strip| {
            strip.exchange(&exchange, &columns, [&through, &across]);
        });
        let (steps, explained) = (precision_into.times(slopes), regression_into.times(precision_into));
        let row = |p: usize| -> Vec<f64> {
            let old = &self.inverse[stay[p]];
            let mut row: Vec<f64> = stay.iter().map(|&position| old[position]).collect();
            for (a, &position) in out.iter().enumerate() {
                axpy(-old[position], regression_out.column(a), &mut row);
            }
            (0..into.len()).for_each(|j| axpy(explained.at(p, j), regression_into.column(j), &mut row));
            row.extend((0..into.len()).map(|j| -explained.at(p, j)));
            row
        };
        let mut inverse = parallel::map_by(TOGETHER, stay.len(), &row);
        inverse.extend((0..into.len()).map(|j| {
            let before = explained.column(j).iter().map(|v| -v);
            before.chain(precision_into.column(j).iter().copied()).collect::<Vec<f64>>()
        }));
        let value = |p: usize, c: usize| {
            let old = &self.inverse[stay[p]];
            let left: f64 = out.iter().enumerate().map(|(a, &position)| old[position] * pull.at(a, c)).sum();
            let came: f64 = (0..into.len()).map(|j| regression_into.at(p, j) * steps.at(j, c)).sum();
            self.values_at(stay[p])[c] - left - came
        };
        let all = |count: usize| (0..count).flat_map(|p| (0..self.responses).map(move |c| (p, c)));
        let stayed = all(stay.len()).map(|(p, c)| value(p, c));
        self.values = stayed.chain(all(into.len()).map(|(j, c)| steps.at(j, c))).collect();
        (self.inverse, self.objective) = (inverse, *objective);
        let left: Vec<usize> = out.iter().map(|&position| self.inside[position]).collect();
        left.into_iter().for_each(|j| self.position[j] = None);
        self.inside = stay.iter().map(|&position| self.inside[position]).chain(into.iter().copied()).collect();
        let count = self.inside.len();
        for (position, &j) in self.inside.iter().enumerate() {
            self.position[j] = Some(position);
            if position >= stay.len() {
                self.strips[j / ROWS].settle(j % ROWS, position, count);
            }
        }
    }
}

impl Strip {
    /// Its rows after an exchange: with the columns of G that belong to J, F·G_KJ, and F and H, which are transposed and side
    /// by side. Along K they are as they were.
    fn exchange(&mut self, exchange: &Exchange, columns: &[&[f64]], [through, across]: [&Matrix; 2]) {
        let Exchange { out, stay, schur_out, shared, precision_into, pull, slopes, .. } = exchange;
        let rows = self.len();
        let left: Vec<f64> = out.iter().flat_map(|&position| self.regression(position)).copied().collect();
        for (to, &position) in stay.iter().enumerate().filter(|(to, position)| to != *position) {
            self.regressions.copy_within(position * rows..(position + 1) * rows, to * rows);
        }
        self.regressions.truncate(stay.len() * rows);
        let left = View::new(&left, rows, out.len());
        let mut own: Vec<f64> = columns.iter().flat_map(|column| &column[self.first..][..rows]).copied().collect();
        add_product(-1.0, View::new(&self.regressions, rows, stay.len()), shared.view(), &mut own, rows);
        add_product(1.0, left, through.view(), &mut own, rows);
        let own = View::new(&own, rows, columns.len());
        let mut come = vec![0.0; rows * columns.len()];
        add_product(1.0, own, precision_into.view(), &mut come, rows);
        let mut returned = vec![0.0; rows * out.len()];
        add_product(1.0, left, schur_out.view(), &mut returned, rows);
        let mut explain = |sign: f64, one: &[f64], other: &[f64]| {
            for (one, other) in one.chunks(rows).zip(other.chunks(rows)) {
                let products = one.iter().zip(other).map(|(a, b)| a * b);
                self.schur.iter_mut().zip(products).for_each(|(schur, product)| *schur += sign * product);
            }
        };
        explain(1.0, left.data, &returned);
        explain(-1.0, own.data, &come);
        self.schur.iter_mut().for_each(|schur| *schur = schur.max(0.0));
        add_product(1.0, left, pull.view(), &mut self.slopes, rows);
        add_product(-1.0, View::new(&come, rows, columns.len()), slopes.view(), &mut self.slopes, rows);
        let both = [left.data, &come].concat();
        let both = View::new(&both, rows, out.len() + columns.len());
        add_product(-1.0, both, across.view().transposed(), &mut self.regressions, rows);
        self.regressions.extend(come);
    }
}
