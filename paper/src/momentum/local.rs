//! What linear algebra says of a momentum once the support is found.

use katoms::theory::RestrictedCurvature;

/// Once the support is the planted one, the error along an eigenvector obeys e⁺ = ρ((1+τ)e − τe₋), ρ = 1 − μλ.
#[derive(Debug, Clone, Copy)]
pub struct Local {
    /// ρ at the least and at the largest eigenvalue.
    pub rho: [f64; 2],
}

impl Local {
    /// From the eigenvalues on the planted support and the step.
    pub fn new(planted: RestrictedCurvature, step: f64) -> Self {
        Self { rho: [1.0 - step * planted.alpha, 1.0 - step * planted.beta] }
    }

    /// The range of τ in which both roots of z² − ρ(1+τ)z + ρτ lie inside the unit circle, for either ρ.
    ///
    /// They do where |ρτ| < 1 and |ρ(1+τ)| < 1 + ρτ: for ρ > 0 from −(1+1/ρ)/2 to 1/ρ, for ρ < 0 from −1/|ρ| to
    /// (1/|ρ|−1)/2.
    pub fn range(&self) -> (f64, f64) {
        let of = |rho: f64| {
            let inverse = 1.0 / rho.abs();
            if rho > 0.0 { (-0.5 * (1.0 + inverse), inverse) } else { (-inverse, 0.5 * (inverse - 1.0)) }
        };
        let [a, b] = self.rho.map(of);
        (a.0.max(b.0), a.1.min(b.1))
    }

    /// The best of the momenta from −1 to 1, and its digits a move over those without; `None` where one move ends it.
    pub fn best(&self) -> Option<(f64, f64)> {
        let taus = (-1000..=1000).map(|i| f64::from(i) / 1000.0);
        let best = taus.min_by(|a, b| self.rate(*a).total_cmp(&self.rate(*b)))?;
        Some((best, self.rate(best).ln() / self.rate(0.0).ln())).filter(|(_, gain)| gain.is_finite())
    }

    /// The factor of the gap in one move, in the long run: the square of the largest root.
    pub fn rate(&self, tau: f64) -> f64 {
        let radius_squared = |rho: f64| {
            let (trace, product) = (rho * (1.0 + tau), rho * tau);
            let inside = 0.25 * trace * trace - product;
            if inside < 0.0 { product } else { (0.5 * trace.abs() + inside.sqrt()).powi(2) }
        };
        radius_squared(self.rho[0]).max(radius_squared(self.rho[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recursion itself, run for long, against the formulas.
    #[test]
    fn the_local_range_is_where_the_recursion_shrinks() {
        let local = Local { rho: [0.45, -0.3] };
        let (low, high) = local.range();
        let shrinks = |tau: f64| {
            local.rho.iter().all(|rho| {
                let (mut old, mut now) = (1.0, 0.7);
                (0..20_000).for_each(|_| (old, now) = (now, rho * ((1.0 + tau) * now - tau * old)));
                now.abs() < 1e-9
            })
        };
        for (tau, inside) in
            [(low - 0.01, false), (low + 0.01, true), (0.0, true), (high - 0.01, true), (high + 0.01, false)]
        {
            assert_eq!(shrinks(tau), inside, "τ = {tau}");
            assert_eq!(local.rate(tau) < 1.0, inside, "τ = {tau}");
        }
        assert!((local.rate(0.0) - 0.45 * 0.45).abs() < 1e-15);
    }

    /// Where every ρ is positive, momentum helps; where some are negative, it slows those down.
    #[test]
    fn momentum_helps_errors_of_one_sign() {
        let (positive, both) = (Local { rho: [0.9, 0.5] }, Local { rho: [0.4, -0.4] });
        assert!(positive.rate(0.4) < positive.rate(0.0));
        assert!(both.rate(0.1) > both.rate(0.0) && both.rate(-0.1) > both.rate(0.0));
        // The double root of ρ = 0.9 is at τ = 0.5195, and the rate rises steeply below it.
        assert_eq!(positive.best().map(|(tau, gain)| (tau, gain > 3.0)), Some((0.52, true)));
        assert_eq!(both.best(), Some((0.0, 1.0)));
        assert_eq!(Local { rho: [0.0, 0.0] }.best(), None);
    }
}
