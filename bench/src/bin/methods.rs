//! Every method of the table side by side:
//!
//! `cargo run --release -p katoms-bench --bin methods [FILE.svg]`
//!
//! prints the passes after which the relative objective gap of each stays below 1e-3, 1e-6 and 1e-9, and draws
//! the gaps into FILE (`target/methods.svg` unless told).

use std::error::Error;
use std::path::PathBuf;

use katoms_bench::{curves, curves_figure};

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/methods.svg".into()));
    let panels = curves::panels()?;
    for panel in &panels {
        println!("\n{:32}{:>8}{:>8}{:>8}   passes to this gap", panel.title, "1e-3", "1e-6", "1e-9");
        for curve in &panel.curves {
            let to = |gap| curve.passes_to(gap).map_or("-".into(), |passes| passes.to_string());
            println!("{:32}{:>8}{:>8}{:>8}", curve.name, to(1e-3), to(1e-6), to(1e-9));
        }
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    curves_figure::draw(&panels, &path)?;
    println!("\n{}", path.display());
    Ok(())
}
