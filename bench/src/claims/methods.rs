//! What docs/methods.md says of the figure, as a test. Passes are exact, so this holds on any machine.

use crate::curves::{self, Panel};
use katoms::Error;

#[test]
fn the_figure_shows_what_the_page_says() -> Result<(), Error> {
    let panels = curves::panels()?;
    let [thresholding, greedy, frank_wolfe, convex, rank, nuclear] = &panels[..] else { panic!("six panels") };
    for name in ["accelerated-iht", "htp", "cosamp", "subspace-pursuit", "grasp", "grahtp"] {
        assert!(passes(thresholding, name) <= 10, "{name} refits");
    }
    for name in ["iht", "normalised-iht", "dore", "cgiht", "cgiht-restarted", "fast-iht"] {
        assert!((11..=100).contains(&passes(thresholding, name)), "{name} does not");
    }
    assert!(passes(thresholding, "cosamp") < passes(thresholding, "accelerated-iht"));
    for name in ["omp", "forward-regression", "foba"] {
        assert!((50..=55).contains(&passes(greedy, name)), "{name}: a pass for each of 50 atoms");
    }
    assert_eq!(passes(greedy, "oblivious"), usize::MAX);
    assert_eq!(passes(frank_wolfe, "frank-wolfe"), usize::MAX);
    assert!(passes(frank_wolfe, "frank-wolfe, corrective") <= 55);
    for name in ["lasso", "block-descent"] {
        assert!(passes(convex, name) <= 8, "{name} has a working set");
    }
    for name in ["fista", "twist"] {
        assert!((20..=150).contains(&passes(convex, name)), "{name} has none");
    }
    for name in ["dore", "cgiht", "riemannian-cg"] {
        assert!(passes(rank, name) < passes(rank, "accelerated-iht"), "{name}");
    }
    assert!(passes(nuclear, "fista (penalty)") < passes(nuclear, "soft-impute (penalty)"));
    Ok(())
}

/// Passes to a gap of 1e-6; never is `usize::MAX`.
fn passes(panel: &Panel, name: &str) -> usize {
    let curve = panel.curves.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no {name}"));
    curve.passes_to(1e-6).unwrap_or(usize::MAX)
}
