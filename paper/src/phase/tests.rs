use super::*;
use crate::Scale;

#[test]
fn half_is_where_the_line_between_two_rows_crosses() {
    let ys = [0.1, 0.2, 0.3];
    assert!((half_way(&ys, &[1.0, 0.75, 0.25]) - 0.25).abs() < 1e-12);
    assert!((half_way(&ys, &[1.0, 1.0, 1.0]) - 0.3).abs() < 1e-12);
    assert!((half_way(&ys, &[0.0, 0.0, 0.0]) - 0.05).abs() < 1e-12);
    assert!((half_way(&ys, &[0.5, 0.0, 0.0]) - 0.1).abs() < 1e-12);
    // A share that rises again does not move the first crossing.
    assert!((half_way(&ys, &[1.0, 0.25, 0.75]) - half_way(&ys, &[1.0, 0.25, 0.0])).abs() < 1e-12);
    assert!((half_way(&ys, &[0.0, 1.0, 1.0]) - 0.05).abs() < 1e-12);
}

#[test]
fn what_cannot_be_run_is_refused_and_said() {
    let refused = |change: &str| {
        let key = change.split(' ').next().unwrap_or_default();
        let template = Experiment::Phase.template();
        let kept = template.lines().take_while(|l| !l.starts_with('[')).filter(|l| !l.starts_with(&format!("{key} =")));
        let config = Some(format!("{}\n{change}\n", kept.collect::<Vec<_>>().join("\n")));
        Config::of(&Request { config, ..Request::default() }).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused("density = { from = 0.0, to = 0.9, steps = 4 }").contains("`density`"));
    assert!(refused("density = { from = 0.1, to = 0.9, steps = 1 }").contains("`density`"));
    assert!(refused("undersampling = { from = 0.1, to = 1.0, steps = 3 }").contains("`undersampling`"));
    assert!(
        refused("undersampling = { from = 0.1, to = 0.9, steps = 9000000000000000000 }").contains("2 to 100 steps")
    );
    assert!(refused("columns = 10").contains("`columns`"));
    assert!(refused("columns = 9000000000000000000").contains("`columns`"));
    assert!(refused("draws = 0").contains("`draws`"));
    assert!(refused("draws = 9000000000000000000").contains("`draws`"));
    assert!(refused("iterations = 9000000000000000000").contains("`iterations`"));
    assert!(refused("lasso = { smallest = 1e-4, count = 9000000000000000000 }").contains("`lasso`"));
    assert!(refused("recovered = nan").contains("`recovered`"));
    assert!(refused("lasso = { smallest = 0.0, count = 10 }").contains("`lasso`"));
    assert!(refused("seeds = 1").contains("`seeds`"));
}

/// Few rows for many entries: nobody can; many rows for one entry: everybody does.
#[test]
fn the_ends_of_the_map_are_known() {
    let text = "seed = 1\ncolumns = 40\nundersampling = { from = 0.1, to = 0.9, steps = 2 }\n\
                density = { from = 0.03, to = 0.9, steps = 2 }\ndraws = 3\nrecovered = 1e-3\nmomentum = 0.25\n\
                iterations = 500\nlasso = { smallest = 1e-4, count = 10 }\n";
    let request = Request { config: Some(text.into()), scale: Scale::Default, ..Request::default() };
    let section = run(&request, &Progress::hidden()).unwrap();
    let maps = section.record["maps"].as_array().unwrap();
    assert_eq!(maps.len(), METHODS.len());
    for map in maps {
        let share = |row: usize, column: usize| map["shares"][row][column].as_f64().unwrap();
        assert_eq!((share(0, 1), share(1, 0)), (1.0, 0.0), "{}", map["contestant"]);
    }
}

#[test]
fn maps_are_the_same_at_any_thread_count() {
    let text = Experiment::Phase.template().replace("draws = 4", "draws = 1");
    let record = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let request = Request { config: Some(text.clone()), scale: Scale::Small, ..Request::default() };
        pool.install(|| run(&request, &Progress::hidden())).unwrap().record
    };
    assert_eq!(record(1), record(3));
}
