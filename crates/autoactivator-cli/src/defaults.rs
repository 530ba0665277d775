//! Adds the default values of parameters to the help texts.
//!
//! An option has the name of its parameter. [`reactivation`], [`consolidation`], [`rivals`], [`shared`] and [`run`] each append the
//! defaults to the options of one struct, so help and parameters cannot drift apart.

use autoactivator::{ConsolidationParams, ReactivationParams};
use autoactivator_exam::experiment::Experiment;
use autoactivator_exam::kind::LearnerKind;
use autoactivator_exam::rival::RivalParams;
use autoactivator_exam::scenario::Scenario;
use clap::Arg;
use serde::Serialize;
use serde_json::Value;

/// Parameters of both learners. [`shared`] handles their options; the seed's help states its own default.
const OF_BOTH: [&str; 3] = ["r", "ridge", "seed"];

/// Options with the name of a parameter of reactivation.
pub fn reactivation(option: Arg) -> Arg {
    of_params(option, ReactivationParams::default().described())
}

/// Options with the name of a parameter of consolidation.
pub fn consolidation(option: Arg) -> Arg {
    of_params(option, ConsolidationParams::default())
}

/// Options with the name of a parameter of rivals; some defaults depend on the rival.
pub fn rivals(option: Arg) -> Arg {
    let by_kind: fn(LearnerKind) -> Option<String> = match option.get_id().as_str() {
        "strength" => |kind| kind.strength().map(|strength| strength.to_string()),
        "random_nodes" => |kind| kind.random_nodes().map(|nodes| nodes.to_string()),
        _ => return of_params(option, RivalParams::default()),
    };
    let kinds = LearnerKind::ALL.into_iter();
    let of_kind = |kind: LearnerKind| by_kind(kind).map(|default| format!("{} {default}", kind.name()));
    with_default(option, &kinds.filter_map(of_kind).collect::<Vec<_>>().join(", "))
}

/// Options with the name of a parameter of both learners.
pub fn shared(option: Arg) -> Arg {
    let (reactivation, consolidation) = (ReactivationParams::default(), ConsolidationParams::default());
    let default = match option.get_id().as_str() {
        "r" => of_each(&reactivation.r.to_string(), &consolidation.r.to_string()),
        "ridge" => {
            let by_data = || "by generalised cross-validation".to_owned();
            let ridge = consolidation.ridge.map(|ridge| format!("{ridge:e}"));
            of_each(
                &format!("{:e}", reactivation.ridge),
                &ridge.unwrap_or_else(by_data),
            )
        }
        _ => return option,
    };
    with_default(option, &default)
}

/// Options of `run`.
pub fn run(option: Arg) -> Arg {
    let default = match option.get_id().as_str() {
        "tasks" => {
            let (few, many) = (Scenario::FEW_TASKS, Scenario::MANY_TASKS);
            format!(
                "{few}, or {many} with {} classes or more; fewer with fewer than {} classes",
                Scenario::MANY_CLASSES,
                2 * few
            )
        }
        "protocols" => {
            let protocols = Experiment::default_protocols().into_iter();
            let names: Vec<String> = protocols.map(|protocol| protocol.to_string()).collect();
            names.join(" and ")
        }
        "seeds" => Experiment::default_seeds().to_string(),
        _ => return option,
    };
    with_default(option, &default)
}

fn of_params(option: Arg, params: impl Serialize) -> Arg {
    let params = serde_json::to_value(params).unwrap_or_default();
    let name = option.get_id().as_str();
    match params.get(name).and_then(in_words) {
        Some(default) if !OF_BOTH.contains(&name) => with_default(option, &default),
        _ => option,
    }
}

/// A default as a user would type it; none for switches and for values chosen from the data.
fn in_words(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => number.as_f64().map(|number| number.to_string()),
        Value::String(name) => Some(name.clone()),
        Value::Array(values) => {
            let values = values.iter().map(in_words).collect::<Option<Vec<String>>>();
            values.map(|values| values.join(","))
        }
        _ => None,
    }
}

fn of_each(reactivation: &str, consolidation: &str) -> String {
    if reactivation == consolidation {
        return reactivation.to_owned();
    }
    format!("{reactivation} for reactivation, {consolidation} for consolidation")
}

fn with_default(option: Arg, default: &str) -> Arg {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    option.help(format!("{help} [default: {default}]"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    /// The help of an option of `run`.
    fn help(id: &str) -> String {
        let program = Cli::command();
        let run = program.find_subcommand("run").unwrap();
        let option = run.get_arguments().find(|option| option.get_id() == id).unwrap();
        option.get_help().unwrap().to_string()
    }

    #[test]
    fn defaults_are_appended_once_and_only_where_there_are_some() {
        let defaults = |id| help(id).matches("[default: ").count();
        for id in [
            "r",
            "ridge",
            "t_max",
            "scopes",
            "readout",
            "seeds",
            "tasks",
            "protocols",
            "epochs",
            "strength",
            "hidden",
        ] {
            assert_eq!(defaults(id), 1, "{}", help(id));
        }
        for id in ["reuse", "image", "nodes_per_class"] {
            assert_eq!(defaults(id), 0, "{}", help(id));
        }
        let t_max = ReactivationParams::default().t_max;
        assert!(help("t_max").ends_with(&format!("[default: {t_max}]")));
    }
}
