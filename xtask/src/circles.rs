//! Which modules of a crate use each other in a circle, by every `crate::` and `super::` path in their code.
//!
//! Comments, strings and tests are left out; a name that a module re-exports leads to where it is defined.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What is asked of the modules of a crate.
pub(crate) struct Rule {
    /// Where its sources are.
    pub(crate) sources: &'static str,
    /// How many names of a path make a module: 1 for those at the root, 2 for those in its folders.
    pub(crate) depth: usize,
    /// The most modules that may use each other in a circle; 1 forbids circles.
    pub(crate) most: usize,
    /// Folders, none of which uses a later one.
    pub(crate) order: &'static [&'static str],
    /// Arrows that are left for now.
    pub(crate) known: &'static [(&'static str, &'static str)],
}

/// The path of a module from the root of its crate.
type Module = Vec<String>;

/// What the files below `rule.sources` do against the rule.
pub(crate) fn complaints(rule: &Rule) -> Result<Vec<String>, String> {
    let root = Path::new(rule.sources);
    let mut files = Vec::new();
    for path in super::tidy::sources(root).into_iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let inside = path.strip_prefix(root).unwrap_or(&path).with_extension("");
        let names = inside.iter().map(|name| name.to_string_lossy().into_owned());
        files.push((names.filter(|name| name != "mod" && name != "lib").collect::<Module>(), text));
    }
    Ok(judge(rule, &files))
}

fn judge(rule: &Rule, files: &[(Module, String)]) -> Vec<String> {
    let uses = arrows(files, rule.depth);
    let mut complaints = Vec::new();
    let place = |module: &str| {
        let folder = module.split('/').next().unwrap_or_default();
        rule.order.iter().position(|known| *known == folder)
    };
    for (from, to) in uses.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
        let is_known = rule.known.contains(&(from, to));
        if place(from) < place(to) && place(from).is_some() && !is_known {
            complaints.push(format!("{}: `{from}` uses `{to}`, which comes later", rule.sources));
        }
    }
    let reached = |from: &str| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&String> = uses.get(from).into_iter().flatten().collect();
        while let Some(module) = open.pop() {
            if reached.insert(module) {
                open.extend(uses.get(module).into_iter().flatten());
            }
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|module| (module, reached(module))).collect();
    let mut seen = BTreeSet::new();
    for (module, from_here) in &reached {
        let back = |other: &&&String| reached.get(**other).is_some_and(|theirs| theirs.contains(*module));
        let circle: Vec<&str> = from_here.iter().filter(back).map(|other| other.as_str()).collect();
        if circle.len() > rule.most.max(1) && seen.insert(circle.clone()) {
            let names = circle.join(", ");
            complaints.push(format!("{}: modules use each other in a circle: {names}", rule.sources));
        }
    }
    complaints
}

/// Which modules each one uses, other than itself and the root.
fn arrows(files: &[(Module, String)], depth: usize) -> BTreeMap<String, BTreeSet<String>> {
    let blank: Vec<(&Module, String)> = files.iter().map(|(module, text)| (module, blank(text))).collect();
    let code: BTreeMap<&Module, Vec<&str>> =
        blank.iter().map(|(module, text)| (*module, without_tests(&tokens(text)))).collect();
    let mut names: BTreeMap<&Module, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for (module, tokens) in &code {
        let known = names.entry(module).or_default();
        for at in (0..tokens.len()).filter(|&at| tokens[at] == "use") {
            for (path, name) in leaves(tokens, at + 1) {
                known.insert(name, path);
            }
        }
    }
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let unit = |module: &[String]| module[..depth.min(module.len())].join("/");
    for (module, tokens) in code.iter().filter(|(module, _)| !module.is_empty()) {
        let is_start = |at: &usize| {
            matches!(tokens[*at], "crate" | "super")
                && tokens.get(at + 1) == Some(&"::")
                && (*at == 0 || tokens[at - 1] != "::")
        };
        for at in (0..tokens.len()).filter(is_start) {
            for (path, _) in leaves(tokens, at) {
                let used = resolve(&code, &names, module, &path, 0);
                let (from, to) = (unit(module), used.map(|used| unit(&used)).unwrap_or_default());
                if !to.is_empty() && to != from && !from.starts_with(&format!("{to}/")) {
                    uses.entry(from).or_default().insert(to);
                }
            }
        }
    }
    uses
}

/// The module that `path`, as it stands in `module`, leads to; nothing if that is in another crate.
fn resolve(
    code: &BTreeMap<&Module, Vec<&str>>,
    names: &BTreeMap<&Module, BTreeMap<&str, Vec<&str>>>,
    module: &Module,
    path: &[&str],
    depth: usize,
) -> Option<Module> {
    let (mut here, mut rest) = match path {
        ["crate", rest @ ..] => (Module::new(), rest),
        ["self", rest @ ..] => (module.clone(), rest),
        rest => (module.clone(), rest),
    };
    let is_inside = path.first() == Some(&"crate") || path.first() == Some(&"self");
    let mut is_ours = is_inside;
    while let ["super", others @ ..] = rest {
        here.pop();
        (rest, is_ours) = (others, true);
    }
    while let [name, others @ ..] = rest {
        let inner = [here.as_slice(), &[(*name).to_owned()]].concat();
        if code.contains_key(&inner) {
            (here, rest, is_ours) = (inner, others, true);
        } else if let Some(target) = names.get(&here).and_then(|known| known.get(name)).filter(|_| depth < 8)
        {
            let target = [target.as_slice(), others].concat();
            return resolve(code, names, &here, &target, depth + 1);
        } else {
            break;
        }
    }
    is_ours.then_some(here)
}

/// The paths that begin at a token, braces opened, and the name by which each is known.
fn leaves<'a>(tokens: &[&'a str], mut at: usize) -> Vec<(Vec<&'a str>, &'a str)> {
    let mut found = Vec::new();
    follow(tokens, &mut at, &mut Vec::new(), &mut found);
    found
}

fn follow<'a>(
    tokens: &[&'a str],
    at: &mut usize,
    path: &mut Vec<&'a str>,
    found: &mut Vec<(Vec<&'a str>, &'a str)>,
) {
    while let Some(&token) = tokens.get(*at) {
        if token == "{" {
            *at += 1;
            while tokens.get(*at).is_some_and(|token| *token != "}") {
                let length = path.len();
                follow(tokens, at, path, found);
                path.truncate(length);
                while tokens.get(*at).is_some_and(|token| ![",", "}"].contains(token)) {
                    *at += 1;
                }
                *at += usize::from(tokens.get(*at) == Some(&","));
            }
            *at += 1;
            return;
        }
        if !is_word(token) {
            return;
        }
        if token != "self" || path.is_empty() {
            path.push(token);
        }
        *at += 1;
        if tokens.get(*at) == Some(&"::") {
            *at += 1;
            if tokens.get(*at).is_some_and(|next| *next == "{" || is_word(next)) {
                continue;
            }
        }
        let alias = (tokens.get(*at) == Some(&"as")).then(|| tokens.get(*at + 1)).flatten();
        found.push((path.clone(), alias.or(path.last()).copied().unwrap_or_default()));
        return;
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, others) = rest.split_at(length);
        tokens.push(token);
        rest = others.trim_start();
    }
    tokens
}

/// The tokens without the items that are only there for tests.
fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_attribute = |at: usize| tokens.get(at) == Some(&"#") && tokens.get(at + 1) == Some(&"[");
        let end = |from: usize| from + tokens[from..].iter().position(|token| *token == "]").unwrap_or(0) + 1;
        let is_test = is_attribute(at) && {
            let attribute = &tokens[at..end(at)];
            attribute.get(2) == Some(&"cfg") && attribute.contains(&"test") && !attribute.contains(&"not")
        };
        if !is_test {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        while is_attribute(at) {
            at = end(at);
        }
        let mut open = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match *token {
                "{" | "(" | "[" => open += 1,
                "}" | ")" | "]" => open -= 1,
                _ => {}
            }
            if open == 0 && (*token == ";" || *token == "}") {
                break;
            }
        }
    }
    kept
}

/// The code without its comments and with nothing in its strings.
fn blank(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_in_word = code.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let hashes = rest.strip_prefix('r').map(|raw| raw.len() - raw.trim_start_matches('#').len());
        let raw = hashes.filter(|n| !is_in_word && rest[1 + n..].starts_with('"'));
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(n_hashes) = raw {
            let end = format!("\"{}", "#".repeat(n_hashes));
            let begin = n_hashes + 2;
            rest[begin..].find(&end).map_or(rest.len(), |at| begin + at + end.len())
        } else if first == '"' {
            let escaped = |at: usize| rest[..at].len() - rest[..at].trim_end_matches('\\').len();
            let end = rest.match_indices('"').skip(1).find(|(at, _)| escaped(*at).is_multiple_of(2));
            end.map_or(rest.len(), |(at, _)| at + 1)
        } else if first == '\'' {
            // A character, unless it is a lifetime.
            let mut letters = rest.char_indices().skip(1);
            match (letters.next(), letters.next()) {
                (Some((_, '\\')), Some((at, _))) => {
                    rest[at + 1..].find('\'').map_or(1, |more| at + 1 + more + 1)
                }
                (Some(_), Some((at, '\''))) => at + 1,
                _ => 0,
            }
        } else {
            0
        };
        if length == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[length..];
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { sources: "here", depth: 1, most: 1, order: &[], known: &[] };

    fn judged(rule: &Rule, files: &[(&str, &str)]) -> Vec<String> {
        let module = |path: &str| path.split('/').filter(|name| *name != "lib").map(str::to_owned).collect();
        let files: Vec<(Module, String)> =
            files.iter().map(|(path, text)| (module(path), (*text).to_owned())).collect();
        judge(rule, &files)
    }

    #[test]
    fn a_path_in_the_middle_of_code_is_an_arrow() {
        let circle = ["here: modules use each other in a circle: a, b"];
        for hidden in [
            "fn f(info: &crate::a::Info) {}",
            "fn f() { let x = crate::a::f(\"//\", '\"'); }",
            "fn f() -> Vec<super::a::A> {}",
            "use crate::{c::C, a::{self, A}};",
            "pub(crate) use crate::A;",
            "#[cfg(not(test))]\nuse crate::a;",
        ] {
            let files = [("lib", "pub use a::A;"), ("a", "use crate::b;"), ("b", hidden), ("c", "")];
            assert_eq!(judged(&RULE, &files), circle, "{hidden}");
        }
        for silent in [
            "// crate::a::A",
            "/// [`crate::a`]\nfn f() {}",
            "const A: &str = \"crate::a\"; const B: &str = r#\"\"crate::a\"\"#;",
            "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
            "#[cfg(test)]\nuse crate::a;\nfn f() {}",
            "use crate::c::a;",
        ] {
            let files = [("lib", "pub use a::A;"), ("a", "use crate::b;"), ("b", silent), ("c", "")];
            assert!(judged(&RULE, &files).is_empty(), "{silent}");
        }
    }

    #[test]
    fn modules_in_folders_are_counted_one_by_one_and_folders_have_an_order() {
        let rule = Rule { depth: 2, most: 2, order: &["low", "high"], ..RULE };
        let folders = [("lib", "use low::{a, b}; pub use high::c;"), ("low", ""), ("high", "")];
        let both = [("low/a", "use crate::b;"), ("high/c", "use crate::a;")];
        let straight = [&folders[..], &both, &[("low/b", "use crate::a;")]].concat();
        assert!(judged(&rule, &straight).is_empty());
        let back = [&folders[..], &both, &[("low/b", "fn f() { crate::c::f() }")]].concat();
        let complaints = judged(&rule, &back);
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].contains("`low/b` uses `high/c`, which comes later"));
        assert!(complaints[1].contains("high/c, low/a, low/b"));
        let known = Rule { known: &[("low/b", "high/c")], most: 3, ..rule };
        assert!(judged(&known, &back).is_empty());
    }
}
