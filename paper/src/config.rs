//! Configs: `paper/NAME.toml`. What stands at the top holds at the default scale; `[small]` and `[full]` change it.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::{Error, Experiment, Request, Scale};

/// The built-in config of an experiment, to be changed and given back.
pub fn template(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::Momentum => include_str!("../momentum.toml"),
        Experiment::Iid => include_str!("../iid.toml"),
        Experiment::Correlated => include_str!("../correlated.toml"),
        Experiment::Counter => include_str!("../counter.toml"),
        Experiment::Tumour => include_str!("../tumour.toml"),
        Experiment::Images => include_str!("../images.toml"),
        Experiment::Phase => include_str!("../phase.toml"),
    }
}

/// The settings for a request: the given config or the built-in one, at the request's scale.
pub(crate) fn settings<C: DeserializeOwned>(experiment: Experiment, request: &Request) -> Result<C, Error> {
    let text = request.config.as_deref().unwrap_or_else(|| template(experiment));
    let bad = |why: String| Error::Config { experiment: experiment.name(), why };
    let mut table: Table = text.parse().map_err(|e: toml::de::Error| bad(e.to_string()))?;
    for scale in [Scale::Small, Scale::Full] {
        let Some(changes) = table.remove(scale.name()) else { continue };
        let Value::Table(changes) = changes else {
            return Err(bad(format!("`{}` must be a table, as in [{0}]", scale.name())));
        };
        if scale == request.scale {
            table.extend(changes);
        }
    }
    table.try_into().map_err(|e: toml::de::Error| bad(e.message().to_owned()))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Two {
        rows: usize,
        seed: u64,
    }

    fn two(config: &str, scale: Scale) -> Result<Two, Error> {
        let request = Request { config: Some(config.into()), scale, ..Request::default() };
        settings(Experiment::Iid, &request)
    }

    #[test]
    fn a_scale_changes_what_it_names() -> Result<(), Error> {
        let config = "rows = 10\nseed = 1\n[small]\nrows = 3\n[full]\nrows = 1000\n";
        assert_eq!((two(config, Scale::Default)?.rows, two(config, Scale::Default)?.seed), (10, 1));
        assert_eq!((two(config, Scale::Small)?.rows, two(config, Scale::Full)?.rows), (3, 1000));
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |config: &str| two(config, Scale::Default).unwrap_err().to_string();
        assert!(why("rows = 10\nseed = 1\nrow = 3").contains("`row`"), "{}", why("rows = 10\nseed = 1\nrow = 3"));
        assert!(why("rows = -1\nseed = 1").contains("iid"));
        assert!(why("rows = 10").contains("`seed`"));
        assert!(why("rows = ").contains("line 1"));
        assert!(why("rows = 10\nseed = 1\nsmall = 3").contains("[small]"));
    }
}
