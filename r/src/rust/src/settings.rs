//! Settings by their names on the command line or in Python, with dots or underscores for dashes, as a recipe.
//!
//! What a setting is called and takes is declared in the engine; here its place in the recipe is found, and R's values become the
//! words that [`value`](rosenblatt::settings::value) reads.

use crate::failure::Failure;
use crate::values::from_r;
use extendr_api::prelude::{List, Robj};
use rosenblatt::kernel::KERNELS;
use rosenblatt::learning::{Declared, Setting, Takes};
use rosenblatt::options::{KernelOptions, Mapping, NetworkOptions, Validation};
use rosenblatt::recipe::MemoryLimit;
use rosenblatt::settings::{should_be, value};
use rosenblatt::{Options, Recipe};
use rosenblatt_data::encode::TextOptions;
use rosenblatt_data::{Limits, ReadOptions, closest};
use serde_json::{Map, Value, json};

/// The groups of settings, and where each stands in a recipe.
const GROUPS: &[(&[Setting], &[&str])] = &[
    (Recipe::SETTINGS, &[]),
    (Options::SETTINGS, &["learning"]),
    (ReadOptions::SETTINGS, &["reading"]),
    (Validation::SETTINGS, &["learning", "validation"]),
    (KernelOptions::SETTINGS, &["learning", "kernel"]),
    (Mapping::SETTINGS, &["learning", "map"]),
    (NetworkOptions::SETTINGS, &["learning", "network"]),
    (TextOptions::SETTINGS, &["reading", "text"]),
    (Limits::SETTINGS, &["reading", "limits"]),
    (MemoryLimit::SETTINGS, &["memory"]),
];

/// What the command line has beside the declared settings.
const OTHERS: [&str; 4] = ["holdout", "folds", "threshold", "classes"];

/// The setting that is called so, and its place; a flag comes before other names.
fn find(name: &str) -> Option<(&'static Setting, &'static [&'static str])> {
    let by = |is_it: &dyn Fn(&Setting) -> bool| {
        let in_group = |(settings, place): &(&'static [Setting], &'static [&'static str])| {
            Some((settings.iter().find(|setting| is_it(setting))?, *place))
        };
        GROUPS.iter().find_map(in_group)
    };
    by(&|setting| setting.flag == Some(name))
        .or_else(|| by(&|setting| setting.aliases.contains(&name)))
        .or_else(|| by(&|setting| setting.python_name().replace('_', "-") == name))
        .filter(|(setting, _)| !matches!(setting.takes, Takes::Group(_)))
}

/// The object at this place of a recipe.
fn at<'a>(recipe: &'a mut Value, place: &[&str]) -> &'a mut Value {
    place.iter().fold(recipe, |object, name| {
        if !object[*name].is_object() {
            object[*name] = json!({});
        }
        &mut object[*name]
    })
}

/// The recipe that these settings of R make, for a table with this label and these columns of categories.
pub(crate) fn recipe(given: &List, label: &str, categorical: &[String]) -> Result<Recipe, Failure> {
    let mut recipe = json!({ "reading": {
        "label": { "named": label }, "format": "csv", "header": true, "delimiter": b',', "categorical": categorical,
    } });
    let mut params = Map::new();
    for (name, given) in given.iter() {
        set(&mut recipe, &mut params, &name.to_lowercase().replace(['.', '_'], "-"), name, &given)?;
    }
    settle_kernel(&mut recipe, params)?;
    Ok(serde_json::from_value(recipe)?)
}

fn set(
    recipe: &mut Value,
    params: &mut Map<String, Value>,
    name: &str,
    spelled: &str,
    given: &Robj,
) -> Result<(), Failure> {
    let given = from_r(given);
    let should =
        |expected: &str| -> Failure { format!("`{spelled}` should be {expected}, but is {given}").into() };
    match name {
        _ if given.is_null() => return Ok(()),
        "label" | "target" | "format" | "header" | "delimiter" => {
            return Err(format!("`{spelled}` cannot be set: the formula and the data frame say it").into());
        }
        "holdout" | "folds" if recipe.get("estimate").is_some() => {
            return Err("set either `holdout` or `folds`".to_owned().into());
        }
        "holdout" => {
            let share = given.as_f64().filter(|share| (0.0..1.0).contains(share));
            recipe["estimate"] =
                json!({ "hold-out": share.ok_or_else(|| should("a share from 0 up to 1"))? });
            return Ok(());
        }
        "folds" => {
            let n_folds = given.as_u64().filter(|n_folds| *n_folds >= 2);
            recipe["estimate"] =
                json!({ "folds": n_folds.ok_or_else(|| should("a whole number, 2 or more"))? });
            return Ok(());
        }
        "threshold" => {
            let share = given.as_f64().ok_or_else(|| should("a share from 0 up to 1"))?;
            at(recipe, &["learning"])["costs"] = json!({ "threshold": share });
            return Ok(());
        }
        "classes" => {
            at(recipe, &["reading"])["classes"] = json!(texts(&given));
            return Ok(());
        }
        // A race of several rules is no rule.
        "algorithm" if given == "auto" => {
            recipe["choice"] = json!({ "race": {} });
            return Ok(());
        }
        // A named patience asks for a validation set, however few the rows.
        "patience" | "n-iter-no-change" => {
            let patience = given.as_u64().ok_or_else(|| should("a whole number, 0 or more"))?;
            let validation = json!({ "patience": patience, "min-rows": 0 });
            at(recipe, &["learning"])["validation"] = if patience == 0 { Value::Null } else { validation };
            return Ok(());
        }
        _ => {}
    }
    if KERNELS
        .iter()
        .flat_map(|kernel| kernel.params)
        .any(|param| param.name == spelled || param.name == name)
    {
        params.insert(name.to_owned(), given);
        return Ok(());
    }
    let Some((setting, place)) = find(name) else {
        let known = GROUPS.iter().flat_map(|(settings, _)| *settings).filter_map(|setting| setting.flag);
        let meant = closest(name, known.chain(OTHERS))
            .map_or_else(String::new, |meant| format!("; did you mean `{}`?", meant.replace('-', "_")));
        return Err(format!("there is no setting `{spelled}`{meant}").into());
    };
    // A flag such as `no-refit` says what another says by its value.
    let is_bare_flag = setting.flag == Some(name) && setting.means.is_some();
    let read = match &given {
        Value::Bool(false) if is_bare_flag => return Ok(()),
        Value::Bool(true) if is_bare_flag => value(setting, &[]),
        Value::Bool(_) if setting.takes == Takes::Switch => Ok(given.clone()),
        given => value(setting, &words(setting, given)),
    };
    let flag = setting.flag.unwrap_or(setting.name);
    let read = read.map_err(|message| message.replace(&format!("--{flag}"), spelled))?;
    if let Some(expected) = should_be(setting, &read) {
        return Err(should(&expected));
    }
    let object = at(recipe, place);
    match (setting.takes, &read) {
        // One value says the fewest and the most.
        (Takes::Run, Value::Array(run)) => {
            object["shortest"] = run[0].clone();
            object["longest"] = run[1].clone();
        }
        // The columns that R's types name stay what they are.
        (Takes::Texts, Value::Array(more)) if setting.name == "categorical" => {
            let mut all = object["categorical"].as_array().cloned().unwrap_or_default();
            all.extend(more.iter().cloned());
            object["categorical"] = json!(all);
        }
        _ => object[setting.name] = read,
    }
    Ok(())
}

/// A value of R as the words by which a command line would set it.
fn words(setting: &Setting, given: &Value) -> Vec<String> {
    let joined = |between: &str| vec![texts(given).join(between)];
    match (setting.takes, given) {
        (_, Value::Object(fields)) => {
            fields.iter().map(|(name, value)| format!("{name}={}", text(value))).collect()
        }
        (Takes::Counts, _) => joined(","),
        (Takes::Size, _) => joined("x"),
        (Takes::Run, _) => joined("-"),
        (Takes::Pairs, Value::Array(pairs)) if pairs.iter().any(Value::is_array) => {
            pairs.iter().map(|pair| texts(pair).join(",")).collect()
        }
        (Takes::Pairs, Value::Array(_)) => joined(","),
        _ => texts(given),
    }
}

fn texts(given: &Value) -> Vec<String> {
    match given {
        Value::Array(items) => items.iter().map(text).collect(),
        item => vec![text(item)],
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(is_on) => if *is_on { "yes" } else { "no" }.to_owned(),
        value => value.to_string(),
    }
}

/// Parameters of a kernel belong to the map that stands in for it, if there is one.
fn settle_kernel(recipe: &mut Value, params: Map<String, Value>) -> Result<(), Failure> {
    let learning = &recipe["learning"];
    let (has_map, has_kernel) = (learning["map"].is_object(), learning["kernel"]["name"].is_string());
    if !has_map && !has_kernel {
        let options = learning["kernel"].as_object().and_then(|options| options.keys().next()).cloned();
        if let Some(name) = params.keys().next().cloned().or(options) {
            return Err(
                format!("`{name}` is about a kernel; name one with `kernel`, or a map with `map`").into()
            );
        }
        return Ok(());
    }
    let learning = &mut recipe["learning"];
    if has_map {
        let kernel = learning.as_object_mut().and_then(|learning| learning.remove("kernel"));
        learning["map"]["kernel"] = kernel.map_or(Value::Null, |kernel| kernel["name"].clone());
        learning["map"]["params"] = Value::Object(params);
    } else {
        learning["kernel"]["params"] = Value::Object(params);
    }
    Ok(())
}
