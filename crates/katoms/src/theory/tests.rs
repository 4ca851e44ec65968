//! The calculator against repeated multiplication, exhaustive grids and the algorithm itself.

use super::*;

type Matrix = [[f64; 2]; 2];

fn contraction(xi: f64, tau: f64) -> Contraction {
    Contraction::new(xi, tau).unwrap()
}

fn multiply(a: Matrix, b: Matrix) -> Matrix {
    [0, 1].map(|r| [0, 1].map(|c| a[r][0] * b[0][c] + a[r][1] * b[1][c]))
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    a == b || (a - b).abs() <= relative * a.abs().max(b.abs())
}

/// ξ in {0, 0.02, …, 1.98} × τ in {−3, −2.95, …, 3}, with τ = −1 and τ = 0 hit exactly.
fn grid() -> impl Iterator<Item = (f64, f64)> {
    let taus = |i: i32| (-60..=60).map(move |j| (f64::from(i) / 50.0, f64::from(j) / 20.0));
    (0..100).flat_map(taus)
}

/// Standard normal draws (Box–Muller over SplitMix64), enough for a test.
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[test]
fn powers_match_repeated_multiplication() {
    for (xi, tau) in grid() {
        let a = contraction(xi, tau);
        let mut naive = [[1.0, 0.0], [0.0, 1.0]];
        for i in 0..60 {
            let fast = a.power(i);
            for (r, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                assert!(
                    close(fast[r][c], naive[r][c], 1e-12),
                    "xi {xi} tau {tau} i {i} ({r},{c}): {fast:?} against {naive:?}"
                );
            }
            naive = multiply(naive, a.matrix());
        }
    }
}

#[test]
fn powers_stay_accurate_where_the_eigenvalues_nearly_cancel() {
    // τ → −1: λ₂ → −λ₁, and s₂ = t exactly.
    for tau in [-1.0 + 1e-9, -1.0 - 1e-12, -1.0 + f64::EPSILON] {
        let a = contraction(0.5, tau);
        assert!(close(a.power(2)[1][0], a.matrix()[0][0], 1e-14));
    }
    assert_eq!(contraction(0.5, -1.0).power(2)[1][0], 0.0);
}

#[test]
fn overflow_is_infinite_never_nan() {
    for tau in [-1.0, 0.0, 1e300] {
        let a = contraction(1.9, tau);
        let entries = a.power(1_000_001).concat();
        assert!(entries.iter().all(|v| !v.is_nan()), "tau {tau}: {entries:?}");
        assert_eq!(a.bound(1.0, 1.0).unwrap().after(1_000_001), f64::INFINITY);
    }
}

#[test]
fn eigenvalues_solve_the_characteristic_polynomial() {
    for (xi, tau) in grid() {
        let a = contraction(xi, tau);
        let (first, second) = a.eigenvalues();
        let [[t, d], _] = a.matrix();
        assert!(first >= -second - 1e-15 && second <= 0.0);
        assert!(close(first + second, t, 1e-12) || t < 1e-15);
        assert!(close(-first * second, d, 1e-14));
    }
}

#[test]
fn radius_is_below_one_exactly_where_the_row_sum_is() {
    let (mut below, mut above) = (0, 0);
    for (xi, tau) in grid() {
        let a = contraction(xi, tau);
        let sum = xi * ((1.0 + tau).abs() + tau.abs());
        if (sum - 1.0).abs() < 1e-12 {
            assert!(close(a.spectral_radius(), 1.0, 1e-12));
            continue;
        }
        assert_eq!(a.spectral_radius() < 1.0, sum < 1.0, "xi {xi} tau {tau}");
        assert_eq!(a.converges(), sum < 1.0);
        if sum < 1.0 { below += 1 } else { above += 1 }
    }
    assert!(below > 1000 && above > 1000);
}

#[test]
fn radius_is_least_without_momentum() {
    for (xi, tau) in grid().filter(|&(xi, tau)| xi > 0.0 && xi < 1.0 && tau != 0.0) {
        assert!(contraction(xi, tau).spectral_radius() > xi, "xi {xi} tau {tau}");
    }
}

#[test]
fn published_range_lies_inside_the_exact_one() {
    let mut seen = 0;
    for i in 0..4000 {
        let curvature = Conditioning::new(1.0, 1.0 + f64::from(i) / 1000.0).unwrap();
        let published = curvature.published_momentum();
        assert_eq!(published.is_some(), curvature.kappa() < 1.472_135_954_999_58);
        assert_eq!(curvature.exact_momentum().is_some(), curvature.kappa() < 3.0);
        if let (Some((low, high)), Some((lower, upper))) = (published, curvature.exact_momentum()) {
            assert!(lower <= low && high <= upper && low <= high);
            seen += 1;
        }
    }
    assert!(seen > 400);
}

#[test]
fn exact_range_has_radius_one_at_its_ends() {
    for beta in [1.1, 1.5, 2.0, 2.9] {
        let curvature = Conditioning::new(1.0, beta).unwrap();
        let (lower, upper) = curvature.exact_momentum().unwrap();
        for end in [lower, upper] {
            let inside = curvature.contraction(end * (1.0 - 1e-6)).unwrap();
            let outside = curvature.contraction(end * (1.0 + 1e-6)).unwrap();
            assert!(inside.spectral_radius() < 1.0 && outside.spectral_radius() > 1.0);
        }
    }
}

#[test]
fn perfect_conditioning_admits_every_momentum() {
    let curvature = Conditioning::new(2.0, 2.0).unwrap();
    let everything = Some((f64::NEG_INFINITY, f64::INFINITY));
    assert_eq!(curvature.xi(), 0.0);
    assert_eq!(curvature.published_momentum(), everything);
    assert_eq!(curvature.exact_momentum(), everything);
    let bound = curvature.contraction(5.0).unwrap().bound(1.0, 0.1).unwrap();
    assert_eq!((bound.after(1), bound.after(7)), (0.1, 0.1));
    assert_eq!(bound.iterations_to(0.1), Some(1));
    assert_eq!(bound.published_after(3), None);
}

#[test]
fn no_gaussian_toy_is_as_well_conditioned_over_all_pairs_as_the_caption_says() {
    let mut draws = Draws(3);
    let least = (0..2000).map(|_| {
        let phi: Vec<f64> = (0..6 * 10).map(|_| draws.normal()).collect();
        let pairs = restricted_curvature(&phi, 6, 10, 2).unwrap();
        pairs.beta / pairs.alpha
    });
    let least = least.fold(f64::INFINITY, f64::min);
    assert!(least > 5.0, "{least}");
}

#[test]
fn toy_of_the_caption() {
    let toy = Conditioning::new(0.64, 1.78).unwrap();
    assert!((toy.xi() - 0.94).abs() < 5e-3);
    assert!((1.0 - toy.alpha() / toy.beta() - 0.64).abs() < 5e-3);
    assert_eq!(toy.published_momentum(), None);
    let (lower, upper) = toy.exact_momentum().unwrap();
    assert!((lower + 1.0307).abs() < 1e-3 && (upper - 0.0307).abs() < 1e-3);
}

#[test]
fn xi_survives_extreme_curvatures() {
    let huge = Conditioning::new(f64::MAX / 3.0, f64::MAX).unwrap();
    assert!(close(huge.xi(), 1.0, 1e-15) && huge.step() > 0.0);
    let narrow = Conditioning::new(1.0, 1.0 + f64::EPSILON).unwrap();
    assert!(close(narrow.xi(), f64::EPSILON, 1e-15));
    assert!(Conditioning::new(1e-300, 1e300).unwrap().xi() <= 2.0);
}

#[test]
fn bound_equals_the_simulated_recursion_and_the_published_one_dominates_it() {
    for (xi, tau) in grid() {
        let a = contraction(xi, tau);
        let bound = a.bound(3.0, 0.2).unwrap();
        let [[t, d], _] = a.matrix();
        let (mut before, mut now) = (3.0, 3.0);
        for steps in 0..50 {
            assert!(close(bound.after(steps), now, 1e-12), "xi {xi} tau {tau} T {steps}");
            if let Some(loose) = bound.published_after(steps) {
                assert!(loose >= now * (1.0 - 1e-12), "xi {xi} tau {tau} T {steps}");
            }
            (before, now) = (now, t * now + d * before + 0.2);
        }
    }
}

#[test]
fn signed_momentum_would_understate_the_noise_floor() {
    // The printed 1/(1 − ξ(1+2τ)) at ξ = ½, τ = −½ is 1; the recursion tends to 2.
    let bound = contraction(0.5, -0.5).bound(0.0, 1.0).unwrap();
    assert_eq!(bound.floor(), Some(2.0));
    assert!(close(bound.after(500), 2.0, 1e-12));
}

#[test]
fn iteration_counts_are_least() {
    let mut counted = 0;
    for (xi, tau) in grid() {
        for (noise, zeta) in [(0.0, 1e-6), (0.01, 0.1), (0.1, 1.0), (0.0, 0.5)] {
            let bound = contraction(xi, tau).bound(2.0, noise).unwrap();
            if bound.floor().is_some_and(|floor| close(floor, zeta, 1e-9)) {
                continue; // Which side ζ is on is then a matter of rounding.
            }
            let Some(steps) = bound.iterations_to(zeta) else {
                let stuck = bound.floor().is_none_or(|floor| floor >= zeta);
                assert!(stuck, "xi {xi} tau {tau} noise {noise}");
                continue;
            };
            assert!(bound.after(steps) <= zeta);
            assert!(steps == 0 || bound.after(steps - 1) > zeta);
            counted += 1;
            if let Some(published) = bound.published_iterations_to(zeta) {
                assert!(published >= steps, "xi {xi} tau {tau}: {published} < {steps}");
                assert!(bound.published_after(published).unwrap() <= zeta * (1.0 + 1e-9));
                let short = bound.published_after(published.max(1) - 1).unwrap();
                assert!(published == 0 || short >= zeta * (1.0 - 1e-9));
            }
        }
    }
    assert!(counted > 5000);
}

#[test]
fn iteration_counts_refuse_what_is_out_of_reach() {
    let bound = contraction(0.5, 0.25).bound(1.0, 0.1).unwrap();
    let floor = bound.floor().unwrap();
    for zeta in [floor, 0.0, -1.0, f64::NAN] {
        assert_eq!(bound.iterations_to(zeta), None, "zeta {zeta}");
        assert_eq!(bound.published_iterations_to(zeta), None, "zeta {zeta}");
    }
    assert_eq!(bound.iterations_to(1.0), Some(0));
    let diverging = contraction(1.2, 0.0).bound(1.0, 0.0).unwrap();
    assert_eq!(diverging.iterations_to(0.5), None);
    assert_eq!(diverging.published_iterations_to(0.5), None);
    // Underflow of the bound must not pass for arrival at zero.
    assert_eq!(contraction(0.5, 0.0).bound(1.0, 0.0).unwrap().iterations_to(0.0), None);
}

#[test]
fn duplicated_column_is_singular_in_pairs() {
    let phi = [3.0, 4.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 1.0];
    let pairs = restricted_curvature(&phi, 3, 3, 2).unwrap();
    assert!(pairs.alpha == 0.0 && close(pairs.beta, 50.0, 1e-14));
    assert!(pairs.conditioning().is_err());
    let singles = restricted_curvature(&phi, 3, 3, 1).unwrap();
    assert_eq!((singles.alpha, singles.beta), (1.0, 25.0));
}

#[test]
fn dependence_hidden_by_rounding_is_still_singular() {
    for seed in 0..50 {
        let mut draws = Draws(seed);
        let mut phi: Vec<f64> = (0..7 * 3).map(|_| draws.normal()).collect();
        (0..7).for_each(|i| phi.push(0.3 * phi[i] - 1.7 * phi[7 + i] + 0.1 * phi[14 + i]));
        assert_eq!(restricted_curvature(&phi, 7, 4, 4).unwrap().alpha, 0.0);
        assert!(restricted_curvature(&phi, 7, 4, 3).unwrap().alpha > 1e-8);
    }
    // A single short column is known to the last digit, however long the other.
    let uneven = restricted_curvature(&[1e-10, 1.0], 1, 2, 1).unwrap();
    assert!(close(uneven.alpha, 1e-20, 1e-15));
}

#[test]
fn curvature_of_known_spectra() {
    // Gram [[2, 1, 0], [1, 2, 1], [0, 1, 2]] has eigenvalues 2 and 2 ± √2; Φ is its Cholesky
    // factor, upper triangular, by columns.
    let (a, b, c) = (2.0_f64.sqrt(), 1.5_f64.sqrt(), (4.0_f64 / 3.0).sqrt());
    let phi = [a, 0.0, 0.0, 1.0 / a, b, 0.0, 0.0, 1.0 / b, c];
    let all = restricted_curvature(&phi, 3, 3, 3).unwrap();
    assert!(close(all.alpha, 2.0 - 2.0_f64.sqrt(), 1e-13));
    assert!(close(all.beta, 2.0 + 2.0_f64.sqrt(), 1e-13));
    let pairs = restricted_curvature(&phi, 3, 3, 2).unwrap();
    assert!(close(pairs.alpha, 1.0, 1e-13) && close(pairs.beta, 3.0, 1e-13));
    // Exact under powers of two, even where squares of the entries leave the range of f64.
    let tiny: Vec<f64> = phi.iter().map(|v| v * 2.0_f64.powi(-400)).collect();
    let shrunk = restricted_curvature(&tiny, 3, 3, 2).unwrap();
    assert_eq!(shrunk.beta, pairs.beta * 2.0_f64.powi(-800));
}

#[test]
fn curvature_widens_with_the_support_and_vanishes_past_the_rows() {
    let mut draws = Draws(7);
    let phi: Vec<f64> = (0..6 * 10).map(|_| draws.normal()).collect();
    let all: Vec<_> = (1..=7).map(|s| restricted_curvature(&phi, 6, 10, s).unwrap()).collect();
    for pair in all.windows(2) {
        assert!(pair[1].alpha <= pair[0].alpha && pair[1].beta >= pair[0].beta);
    }
    assert!(all[5].alpha > 0.0 && all[6].alpha == 0.0);
}

#[test]
fn curvature_bounds_every_sparse_quotient() {
    let mut draws = Draws(11);
    let phi: Vec<f64> = (0..5 * 8).map(|_| draws.normal()).collect();
    let found = restricted_curvature(&phi, 5, 8, 3).unwrap();
    for _ in 0..2000 {
        let mut x = [0.0; 8];
        (0..3).for_each(|_| x[(draws.uniform() * 8.0) as usize] = draws.normal());
        let image = apply(&phi, 5, &x);
        let quotient = squared_norm(&image) / squared_norm(&x);
        assert!(found.alpha <= quotient * (1.0 + 1e-12));
        assert!(quotient <= found.beta * (1.0 + 1e-12));
    }
}

fn assert_error<T: std::fmt::Debug>(outcome: Result<T, TheoryError>, part: &str) {
    let text = outcome.unwrap_err().to_string();
    assert!(text.contains(part), "{text:?} lacks {part:?}");
}

#[test]
fn errors_name_the_value_and_the_remedy() {
    assert_error(Conditioning::new(f64::NAN, 1.0), "alpha = NaN");
    assert_error(Conditioning::new(1.0, f64::INFINITY), "beta = inf");
    let curvature = Conditioning::new(1.0, 2.0).unwrap();
    assert_error(curvature.noise_gain(-1.0), "beta_2k = -1");
    assert_error(Contraction::new(-0.1, 0.0), "xi = -0.1: need 0 <= xi <= 2");
    assert_error(Contraction::new(0.1, f64::INFINITY), "tau = inf");
    assert_error(contraction(0.1, 0.0).bound(-3.0, 0.0), "signal_norm = -3");
    assert_error(contraction(0.1, 0.0).bound(1.0, f64::NAN), "noise = NaN");
}

#[test]
fn enumeration_refuses_what_it_cannot_visit() {
    let ask = restricted_curvature;
    assert_error(ask(&[1.0; 5], 2, 3, 1), "5 entries for 2 rows and 3 columns");
    assert_error(ask(&[], 0, 3, 1), "0 entries for 0 rows");
    let holed = [1.0, 2.0, f64::NAN, 0.0];
    assert_error(ask(&holed, 2, 2, 1), "row 0, column 1 is NaN");
    assert_error(ask(&[1.0; 6], 2, 3, 4), "support size 4: need 1 to 3");
    assert_error(ask(&[1.0; 6], 2, 3, 0), "support size 0");
    assert_error(ask(&[1.0; 100], 1, 100, 8), "1.8609e11 supports of size 8");
    assert_error(ask(&[1.0; 70], 1, 70, 66), "at most 17391 are enumerated");
}

// ---- The lemma against the algorithm itself ----

fn apply(phi: &[f64], rows: usize, x: &[f64]) -> Vec<f64> {
    let mut image = vec![0.0; rows];
    for (column, &weight) in phi.chunks_exact(rows).zip(x) {
        image.iter_mut().zip(column).for_each(|(out, v)| *out += v * weight);
    }
    image
}

fn squared_norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The indices of the k largest magnitudes.
fn largest(x: &[f64], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| x[j].abs().total_cmp(&x[i].abs()));
    order.truncate(k);
    order
}

fn keep(x: &[f64], indices: &[usize]) -> Vec<f64> {
    let mut kept = vec![0.0; x.len()];
    indices.iter().for_each(|&i| kept[i] = x[i]);
    kept
}

/// x₊ = Π_k(u − μ∇f(u)), by the restricted gradient of Algorithm 1; asserts on the way that the
/// full gradient gives the same (note 5 of the module).
fn threshold_step(phi: &[f64], b: &[f64], u: &[f64], step: f64, k: usize) -> Vec<f64> {
    let residual: Vec<f64> = apply(phi, b.len(), u).iter().zip(b).map(|(p, q)| q - p).collect();
    let descent: Vec<f64> =
        phi.chunks_exact(b.len()).map(|c| step * c.iter().zip(&residual).map(|(p, q)| p * q).sum::<f64>()).collect();
    let inside: Vec<usize> = (0..u.len()).filter(|&i| u[i] != 0.0).collect();
    let outside: Vec<f64> = (0..u.len()).map(|i| if u[i] != 0.0 { 0.0 } else { descent[i] }).collect();
    let search = [inside, largest(&outside, k)].concat();
    let add = |g: &[f64]| -> Vec<f64> { u.iter().zip(g).map(|(p, q)| p + q).collect() };
    let (restricted, full) = (add(&keep(&descent, &search)), add(&descent));
    let next = keep(&restricted, &largest(&restricted, k));
    assert_eq!(next, keep(&full, &largest(&full, k)));
    next
}

/// Twenty iterations at momentum `tau` with noise of size `level`: asserts the lemma at each, and
/// returns how near the error came to what the lemma allows.
fn assert_lemma(phi: &[f64], rows: usize, draws: &mut Draws, (tau, level): (f64, f64)) -> f64 {
    let (columns, k) = (phi.len() / rows, 2);
    let of_size = |size| restricted_curvature(phi, rows, columns, size).unwrap();
    let curvature = of_size(3 * k).conditioning().unwrap();
    let mut truth = vec![0.0; columns];
    (truth[2], truth[9]) = (draws.normal(), draws.normal());
    let mut b = apply(phi, rows, &truth);
    let clean = b.clone();
    b.iter_mut().for_each(|v| *v += level * draws.normal());
    let noise = curvature.noise_gain(of_size(2 * k).beta).unwrap() * distance(&b, &clean);
    let a = curvature.contraction(tau).unwrap();
    let bound = a.bound(squared_norm(&truth).sqrt(), noise).unwrap();
    let [[t, d], _] = a.matrix();

    let (mut nearest, mut old, mut x) = (0.0_f64, vec![0.0; columns], vec![0.0; columns]);
    for steps in 1..=20 {
        let u: Vec<f64> = x.iter().zip(&old).map(|(p, q)| p + tau * (p - q)).collect();
        let next = threshold_step(phi, &b, &u, curvature.step(), k);
        let error = distance(&next, &truth);
        let allowed = t * distance(&x, &truth) + d * distance(&old, &truth) + noise;
        assert!(error <= allowed + 1e-14, "tau {tau}: {error} > {allowed}");
        assert!(error <= bound.after(steps) + 1e-14, "tau {tau} T {steps}");
        if allowed > 1e-12 {
            nearest = nearest.max(error / allowed);
        }
        (old, x) = (x, next);
    }
    nearest
}

#[test]
fn lemma_holds_along_real_runs() {
    let mut nearest: f64 = 0.0;
    for seed in 0..12 {
        let mut draws = Draws(seed);
        let phi: Vec<f64> = (0..60 * 12).map(|_| draws.normal() / 60.0_f64.sqrt()).collect();
        for setting in [(0.0, 0.0), (0.25, 0.0), (-0.5, 0.0), (0.25, 0.01), (-1.5, 0.005)] {
            nearest = nearest.max(assert_lemma(&phi, 60, &mut draws, setting));
        }
    }
    // The check has teeth only if the runs come near the bound.
    assert!(nearest > 0.3, "closest approach {nearest}");
}

#[test]
fn printed_noise_gain_is_too_small() {
    // Φ = I₂, k = 1, x* = e₁: the noise swaps the support at the first step.
    let (phi, b, truth) = ([1.0, 0.0, 0.0, 1.0], [0.5, 0.501], [1.0, 0.0]);
    let found = restricted_curvature(&phi, 2, 2, 2).unwrap();
    let curvature = found.conditioning().unwrap();
    let noise = curvature.noise_gain(found.beta).unwrap() * distance(&b, &truth);
    let error = distance(&threshold_step(&phi, &b, &[0.0; 2], curvature.step(), 1), &truth);
    assert_eq!(curvature.xi(), 0.0);
    assert!(error <= noise && error > noise / 2.0);
}
