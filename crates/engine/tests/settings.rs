//! The law of settings: what was set counts, and setting a default differs from not setting it exactly where the
//! declaration says so.

use rosenblatt::data::Source;
use rosenblatt::learning::{Declared as _, Setting, Takes};
use rosenblatt::settings::{self, Asked};
use rosenblatt::{Options, Recipe, Trained, catalogue};
use serde_json::{Value, json};

fn data() -> Source {
    let row = |i: u32| {
        format!(
            "{},{},{}\n",
            f64::from(i % 13) - 6.0,
            f64::from(i % 7) - 3.0,
            if i % 13 > 6 { "up" } else { "down" }
        )
    };
    Source::bytes("rows.csv", format!("x,z,label\n{}", (0..60).map(row).collect::<String>()).into_bytes())
}

fn train(recipe: &Value) -> Trained {
    let recipe: Recipe = serde_json::from_value(recipe.clone()).unwrap();
    recipe.train(&data(), &mut ()).unwrap()
}

/// For every setting of learning: set to its default, it ends the race unless candidates share it; without a race,
/// it changes nothing.
#[test]
fn a_setting_at_its_default_differs_from_none_exactly_where_its_declaration_says_so() {
    let defaults = json!(Options::default());
    let raced = train(&json!({}));
    assert!(raced.race.is_some());
    let given = train(&json!({ "choice": "given" })).model.to_bytes();
    let mut n_ending = 0;
    for setting in Options::SETTINGS {
        let Some(default) = defaults.get(setting.name).filter(|default| !default.is_null()) else {
            // Nothing in place of a value is what holds anyhow.
            let nothing: Asked<Options> =
                serde_json::from_value(json!({ setting.name: null })).unwrap_or_default();
            assert!(!nothing.is_set(setting.name), "{}", setting.name);
            continue;
        };
        let learning = json!({ setting.name: default });
        let trained = train(&json!({ "learning": learning }));
        assert_eq!(trained.race.is_some(), setting.is_shared, "{}", setting.name);
        if setting.is_shared {
            assert_eq!(trained.model.to_bytes(), raced.model.to_bytes(), "{}", setting.name);
        }
        let same = train(&json!({ "learning": learning, "choice": "given" }));
        assert_eq!(same.model.to_bytes(), given, "{}", setting.name);
        n_ending += usize::from(!setting.is_shared);
    }
    assert!(n_ending >= 9, "{n_ending}");
}

/// A source of each kind, by what the settings of a group are about.
fn source_for(group: &str) -> Source {
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/data");
    match group {
        "text" => {
            let line = |i: u32| {
                let (class, words) =
                    if i.is_multiple_of(3) { ("spam", "win a free") } else { ("ham", "see you at the") };
                let [what, when] = [["game", "prize", "dinner"], ["now", "soon", "later"]];
                let (what, when) = (what[i as usize % 3], when[i as usize / 3 % 3]);
                format!("{class}\t{words} {what} {when}, number {i}\n")
            };
            Source::bytes("notes.tsv", (0..60).map(line).collect::<String>().into_bytes())
        }
        "pictures" => Source::find(tests.join("pictures")).unwrap(),
        "tagging" => {
            let sentence = |i: u32| match i % 4 {
                0 => "the\tD\ndog\tN\nbarks\tV\n\n",
                1 => "a\tD\nbark\tN\nscares\tV\nhim\tP\n\n",
                2 => "dogs\tN\nbark\tV\n\n",
                _ => "the\tD\nscares\tN\nend\tV\n\n",
            };
            Source::bytes("tags.conll", (0..40).map(sentence).collect::<String>().into_bytes())
        }
        _ => data(),
    }
}

/// Of settings beside those of learning: where a recipe holds them, what they need beside them, and how many of them
/// are tried at least. Set to its default, each is as if it was not set: no model changes, and no race ends.
#[test]
fn outside_learning_a_default_that_is_set_changes_nothing() {
    for (group, base, place, fewest) in [
        ("validation", json!({ "learning": { "validation": {} } }), "/learning/validation", 3),
        ("map", json!({ "learning": { "map": {} } }), "/learning/map", 2),
        ("kernel", json!({ "learning": { "kernel": {} } }), "/learning/kernel", 4),
        ("network", json!({ "learning": { "algorithm": "mlp", "network": {} } }), "/learning/network", 3),
        ("reading", json!({ "choice": "given", "reading": {} }), "/reading", 14),
        ("text", json!({ "choice": "given", "reading": { "text": {} } }), "/reading/text", 6),
        (
            "pictures",
            json!({ "choice": "given", "reading": { "pictures": { "size": [8, 8] } } }),
            "/reading/pictures",
            2,
        ),
        ("limits", json!({ "choice": "given", "reading": { "limits": {} } }), "/reading/limits", 7),
        ("recipe", json!({}), "", 8),
        ("race", json!({ "choice": { "race": {} } }), "/choice/race", 1),
        ("tagging", json!({ "tagging": {} }), "/tagging", 12),
    ] {
        // Pictures are read where that was built.
        if group == "pictures" && !cfg!(feature = "images") {
            continue;
        }
        let source = source_for(group);
        let train = |recipe: &Value| {
            let recipe: Recipe = serde_json::from_value(recipe.clone()).unwrap();
            let trained = recipe.train(&source, &mut ()).unwrap_or_else(|error| panic!("{group}: {error}"));
            (trained.race.is_some(), trained.model.to_bytes())
        };
        let unset = train(&base);
        assert_eq!(unset.0, ["recipe", "race"].contains(&group), "{group}");
        let listed = catalogue().options.into_iter().find(|listed| listed.name == group).unwrap();
        let mut n_tried = 0;
        for option in listed.options.iter().filter(|option| !option.default.is_null()) {
            let mut set = base.clone();
            set.pointer_mut(place).unwrap()[option.name] = option.default.clone();
            assert!(train(&set) == unset, "{group}: {} = {}", option.name, option.default);
            n_tried += 1;
        }
        assert!(n_tried >= fewest, "{group}: {n_tried}");
    }
}

/// Sentences take settings of learning, too. There the default of one means more than none: its declaration says so.
#[test]
fn of_sentences_a_default_differs_from_none_exactly_where_its_declaration_says_so() {
    let source = source_for("tagging");
    let train = |learning: &Value| {
        let recipe: Recipe = serde_json::from_value(json!({ "learning": learning, "tagging": {} })).unwrap();
        recipe.train(&source, &mut ()).unwrap().model.to_bytes()
    };
    let (unset, defaults) = (train(&json!({})), json!(Options::default()));
    let mut differing = Vec::new();
    for setting in Options::SETTINGS.iter().filter(|setting| setting.tasks.has_sentences()) {
        let Some(default) = defaults.get(setting.name).filter(|default| !default.is_null()) else { continue };
        let differs = train(&json!({ setting.name: default })) != unset;
        assert_eq!(differs, setting.unset.contains("for sentences"), "{}", setting.name);
        differing.extend(differs.then_some(setting.name));
    }
    assert_eq!(differing, ["epochs"]);
}

/// Every value that a flag can set is spelled by words that set the same value.
#[test]
fn words_say_what_they_were_made_of() {
    let values = |setting: &Setting, default: &Value| match setting.takes {
        Takes::Switch => vec![json!(true), json!(false)],
        Takes::AtLeast(_) | Takes::Bytes => vec![json!(1), json!(7)],
        Takes::Between(..) | Takes::Positive => vec![json!(0.25)],
        Takes::Text => vec![json!("cpu")],
        Takes::Texts => vec![json!(["a", "b c"])],
        Takes::Counts => vec![json!([3, 4])],
        Takes::Pairs => vec![json!([["a", "b"], ["c", "d"]])],
        Takes::Numbers => vec![json!({ "C": 0.5, "r": 2.0 })],
        Takes::ByClass => vec![json!("balanced"), json!({ "given": { "a": 0.5, "b:c": 2.0 } })],
        Takes::Column => vec![json!({ "named": "-1" })],
        Takes::Character => vec![json!(9), json!(59)],
        Takes::Size => vec![json!([28, 14])],
        Takes::Choice(_) => setting.choices.iter().map(|choice| json!(choice.example)).collect(),
        _ => vec![default.clone()],
    };
    let mut n_words = 0;
    for group in catalogue().options {
        for info in group.options {
            let Some(setting) = info.flag.and_then(catalogue::setting) else { continue };
            for value in values(setting, &info.default) {
                let words: Vec<String> =
                    settings::words(setting, &value).into_iter().filter_map(|(_, word)| word).collect();
                let is_off = settings::words(setting, &value).is_empty();
                if is_off || setting.takes == Takes::Run {
                    continue;
                }
                assert_eq!(settings::value(setting, &words).unwrap(), value, "{} {words:?}", setting.name);
                n_words += 1;
            }
        }
    }
    assert!(n_words > 60, "{n_words}");
}

/// A flag and an option of one group have one meaning.
#[test]
fn no_two_settings_share_a_flag() {
    let mut flags: Vec<&str> = catalogue()
        .options
        .iter()
        .flat_map(|group| &group.options)
        .filter_map(|option| option.flag)
        .collect();
    let n_flags = flags.len();
    flags.sort_unstable();
    flags.dedup();
    assert_eq!(flags.len(), n_flags);
}

/// The guide's page is what the declarations say. `UPDATE_SNAPSHOTS=1` writes it anew.
#[test]
fn the_guide_lists_the_settings_as_they_are_declared() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/settings.md");
    let page = catalogue().reference();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == page,
        "{} is not up to date",
        path.display()
    );
    for option in catalogue().options.iter().flat_map(|group| &group.options) {
        assert!(page.contains(&format!("| `{}` |", option.name)) && page.contains(option.meaning));
    }
}

/// Every source file below a folder of the tree, but for what is generated.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut waiting, mut found) = (vec![root.join(folder)], Vec::new());
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let is_written = path.extension().is_some_and(|ending| ending == "rs" || ending == "py");
        if is_written && !name.contains("/_settings.") && !name.contains("/_named.") {
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// What CONTRIBUTING says of files is counted: every path in its table exists, and a setting's meaning, from which all
/// else follows, stands in one file.
#[test]
fn contributing_counts_files_as_they_are() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let all: Vec<_> = ["crates", "python/rosenblatt"].into_iter().flat_map(sources).collect();
    let mut n_paths = 0;
    for line in guide.lines().filter(|line| line.starts_with("| a")) {
        for word in line.split('`').skip(1).step_by(2).filter(|word| word.contains('/')) {
            let is_whole = [root.join("crates").join(word), root.join(word)].iter().any(|path| path.exists());
            let is_part = || all.iter().any(|(name, _)| name.ends_with(&format!("/{word}")));
            assert!(is_whole || is_part(), "{word} is not there: {line}");
            n_paths += 1;
        }
    }
    assert!(n_paths > 20, "{n_paths}");
    let row =
        |start: &str| guide.lines().find(|line| line.starts_with(start)).unwrap().split('|').nth(3).unwrap();
    assert!(row("| a setting of learning |").starts_with(" 1: "));
    assert!(row("| a setting of reading |").starts_with(" 1: "));
    let all: Vec<_> = all.iter().map(|(name, text)| (name, joined(text))).collect();
    for option in catalogue().options.iter().flat_map(|group| &group.options) {
        // Short ones may fit something else, too; those of a whole training have flags of their own.
        if option.meaning.len() < 35 || option.decided_by == "judging" {
            continue;
        }
        let files = all.iter().filter(|(_, text)| text.contains(option.meaning)).map(|(name, _)| *name);
        let files: Vec<_> = files.collect();
        assert_eq!(files.len(), 1, "{}: {files:?}", option.meaning);
    }
}

/// A text whose comments are not broken into lines.
fn joined(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start().trim_start_matches("///").trim());
    lines.collect::<Vec<_>>().join(" ")
}
