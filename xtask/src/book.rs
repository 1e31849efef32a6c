//! `cargo xtask book [--program PATH]`: everything there is to read, as a static site with search, in `target/book`.
//!
//! `MkDocs` builds it, in an environment of its own below `target`. The pages are those of the tree, found by following links from
//! README.md and the guide, plus a reference that comes from the program's catalogue. A link that leads nowhere fails the build.
//! No page loads anything from another host, and search also works from disk. The playground needs `rosenblatt
//! playground` or another HTTP server, as browsers load no WebAssembly from disk.

use crate::{everything, python, say, torture};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

const SOURCES: &str = "target/book-src";
const BOOK: &str = "target/book";
const SETTINGS: &str = "target/book.yml";
const PACKAGES: &[&str] = &["mkdocs-material>=9.5,<10"];
/// The page that orders the others.
const INDEX: &str = "docs/guide/README.md";
/// Pages for those who want to know how it works inside.
const INSIDE: [(&str, &str); 5] = [
    ("Architecture", "ARCHITECTURE.md"),
    ("The model file", "crates/engine/FORMAT.md"),
    ("Measurements", "bench/README.md"),
    ("Contributing", "CONTRIBUTING.md"),
    ("Changelog", "CHANGELOG.md"),
];
/// Runs the script of a worker in a hidden frame. The theme would load such a script from another host.
const WORKER: &str = r#"// Browsers start no workers from disk, and search is one.
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    const inside = frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = inside.document.createElement("script");
    const loaded = new Promise((resolve) => script.addEventListener("load", resolve));
    script.src = new URL(url, location.href);
    inside.document.body.append(script);
    this.postMessage = (data) => loaded.then(() => inside.dispatchEvent(new MessageEvent("message", { data })));
  }
};
"#;
const WORKER_FILE: &str = "assets/iframe-worker.js";
/// Four points on which every rule is drawn.
const POINTS: &str = "x1,x2,class\n4,0,plus\n1,1,minus\n0,1,minus\n-2,-2,plus\n";

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let program = match words {
        [] => None,
        [flag, path] if flag == "--program" => Some(PathBuf::from(path)),
        _ => return Err("usage: cargo xtask book [--program PATH]".to_owned()),
    };
    let python = python::environment("book", PACKAGES)?.ok_or("the book needs Python and MkDocs")?;
    let program = if let Some(program) = program {
        program
    } else {
        torture::cargo(&everything("build", &["--bin", "rosenblatt"]), &[])?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        target.join("debug/rosenblatt")
    };
    let program = fs::canonicalize(&program).map_err(|error| format!("{}: {error}", program.display()))?;
    let _ = fs::remove_dir_all(SOURCES);
    let index = read(Path::new(INDEX))?;
    for file in linked_files()? {
        write(&file, &fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?)?;
    }
    let site = "crates/server/site";
    for entry in fs::read_dir(site).map_err(|error| format!("{site}: {error}"))?.flatten() {
        let bytes = fs::read(entry.path()).map_err(|error| error.to_string())?;
        write(&Path::new("playground").join(entry.file_name()), &bytes)?;
    }
    let catalogue = output(Command::new(&program).args(["catalogue", "--json"]))?;
    let catalogue: Value = serde_json::from_str(&catalogue).map_err(|error| error.to_string())?;
    let reference = reference(&program, &catalogue)?;
    for (_, file, page) in &reference {
        write(Path::new(file), page.as_bytes())?;
    }
    write(Path::new(WORKER_FILE), WORKER.as_bytes())?;
    draw_rules(&program, &catalogue)?;
    let settings = settings(&contents(&index), &reference);
    fs::write(SETTINGS, settings.to_string()).map_err(|error| format!("{SETTINGS}: {error}"))?;
    let build = ["-m", "mkdocs", "build", "--strict", "--config-file", SETTINGS];
    // Its authors advertise their next program on every run.
    let status = Command::new(python).args(build).env("NO_MKDOCS_2_WARNING", "1").status();
    let status = status.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err("MkDocs refused the book; its warnings above name pages and links".to_owned());
    }
    say(&format!("{BOOK}/index.html"));
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file of the book's sources.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let path = Path::new(SOURCES).join(path);
    let folder = path.parent().unwrap_or(&path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, bytes));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

fn output(command: &mut Command) -> Result<String, String> {
    let done = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if done.status.success() {
        return String::from_utf8(done.stdout).map_err(|error| error.to_string());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&done.stderr)))
}

/// The links of a page: what each is called, and where it leads.
fn links(text: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = text.split("](").collect();
    let pairs = parts.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.filter_map(|(before, after)| Some((before.rsplit('[').next()?, after.split_once(')')?.0))).collect()
}

/// Where a link of a page leads within the tree; nothing for other hosts and for places on the same page.
fn resolve(page: &Path, link: &str) -> Option<PathBuf> {
    let link = link.split('#').next().filter(|link| !link.is_empty() && !link.contains(':'))?;
    let mut path = page.parent()?.to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => path.pop().then_some(())?,
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Every file that README.md, the guide and the pages about the inside lead to, pictures and sources included.
fn linked_files() -> Result<BTreeSet<PathBuf>, String> {
    let mut open: Vec<PathBuf> = ["README.md", INDEX, "docs/gallery.md"].map(PathBuf::from).to_vec();
    open.extend(INSIDE.iter().map(|(_, page)| PathBuf::from(page)));
    let mut files = BTreeSet::new();
    while let Some(page) = open.pop() {
        if !files.insert(page.clone()) || page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = read(&page)?;
        let leads = links(&text).into_iter().filter_map(|(_, link)| resolve(&page, link));
        open.extend(leads.filter(|file| file.is_file()));
    }
    Ok(files)
}

/// A part of the book: its title, then titles and files of its pages.
type Part<'a> = (&'a str, Vec<(&'a str, PathBuf)>);

/// The parts of the guide, as its index orders them.
fn contents(index: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for line in index.lines() {
        if let Some(title) = line.strip_prefix("**").and_then(|line| line.strip_suffix("**")) {
            parts.push((title, Vec::new()));
        } else if let Some((_, pages)) = parts.last_mut() {
            let found = links(line).into_iter();
            pages.extend(found.filter_map(|(title, link)| Some((title, resolve(Path::new(INDEX), link)?))));
        }
    }
    parts
}

/// What `MkDocs` reads. JSON is YAML.
fn settings(parts: &[Part<'_>], reference: &[(&str, String, String)]) -> Value {
    let mut nav = vec![json!({"Start": "README.md"})];
    for (title, pages) in parts {
        let pages: Vec<Value> = pages.iter().map(|(title, page)| json!({*title: page})).collect();
        nav.push(json!({*title: pages}));
    }
    let mut pages: Vec<Value> = reference.iter().map(|(title, file, _)| json!({*title: file})).collect();
    pages.extend([json!({"JSON": "docs/json.md"}), json!({"Gallery": "docs/gallery.md"})]);
    nav.push(json!({"Reference": pages}));
    let pages: Vec<Value> = INSIDE.iter().map(|(title, page)| json!({*title: page})).collect();
    nav.extend([json!({"Inside": pages}), json!({"Playground": "playground/index.html"})]);
    let colours = ["default", "slate"].map(|scheme| {
        let (icon, other) =
            if scheme == "slate" { ("weather-night", "light") } else { ("weather-sunny", "dark") };
        let media = if scheme == "slate" { "dark" } else { "light" };
        json!({
            "media": format!("(prefers-color-scheme: {media})"),
            "scheme": scheme,
            "primary": "indigo",
            "toggle": {"icon": format!("material/{icon}"), "name": format!("Use {other} colours")},
        })
    });
    json!({
        "site_name": "Rosenblatt",
        "docs_dir": "book-src",
        "site_dir": "book",
        "nav": nav,
        // Fonts would come from another host.
        "theme": {
            "name": "material",
            "font": false,
            "palette": colours,
            "features": ["navigation.tabs", "navigation.top", "navigation.footer", "search.highlight", "content.code.copy"],
        },
        "extra": {"polyfills": [WORKER_FILE], "generator": false},
        "plugins": ["search", "offline"],
        "markdown_extensions": ["tables", "fenced_code", {"toc": {"permalink": true}}, "pymdownx.highlight", "pymdownx.superfences"],
        "validation": {
            "nav": {"omitted_files": "ignore", "not_found": "warn"},
            "links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"},
        },
    })
}

/// A text of an entry of the catalogue.
fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
    entry[name].as_str().unwrap_or_default()
}

fn list<'a>(entry: &'a Value, name: &str) -> &'a [Value] {
    entry[name].as_array().map_or(&[], Vec::as_slice)
}

/// Names as code, one after the other.
fn names(values: &[Value]) -> String {
    let names: Vec<String> = values.iter().filter_map(|name| Some(format!("`{}`", name.as_str()?))).collect();
    names.join(", ")
}

/// A value as a cell of a table.
fn cell(value: &Value) -> String {
    let shown = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    shown.replace('|', "\\|").replace('\n', " ")
}

fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    let mut n_rows = 0;
    for row in rows {
        let _ = writeln!(table, "| {} |", row.join(" | "));
        n_rows += 1;
    }
    if n_rows == 0 { String::new() } else { table + "\n" }
}

fn parameters(entry: &Value) -> String {
    let row = |param: &Value| {
        vec![
            format!("`{}`", text(param, "name")),
            cell(&param["meaning"]),
            cell(&param["default"]),
            cell(&param["range"]),
        ]
    };
    table(&["parameter", "meaning", "default", "range"], list(entry, "params").iter().map(row))
}

/// Pages that come from the catalogue: title, file and text.
fn reference(program: &Path, catalogue: &Value) -> Result<Vec<(&'static str, String, String)>, String> {
    let pages = [
        ("Rules", "rules", rules(catalogue)),
        ("Kernels and maps", "kernels", kernels(catalogue)),
        ("File formats", "formats", formats(catalogue)),
        ("Commands", "commands", commands(program, catalogue)?),
    ];
    Ok(pages.map(|(title, name, page)| (title, format!("reference/{name}.md"), page)).to_vec())
}

fn rules(catalogue: &Value) -> String {
    let mut page = String::from(
        "# Rules\n\nA rule decides when weights move, and how far. `f(x)` is the score, `w` the weights, `y` the label, +1 or -1. \
         `--algorithm NAME` chooses one, `--param NAME=VALUE` sets a parameter. The pictures show what each learns from \
         the same four points, by default settings.\n\n",
    );
    for (task, title) in [("classes", "Classes"), ("numbers", "Numbers")] {
        let _ = write!(page, "## {title}\n\n");
        for rule in list(catalogue, "algorithms").iter().filter(|rule| rule["task"] == task) {
            let name = text(rule, "name");
            let _ = write!(page, "### {name}\n\n");
            let _ = write!(page, "```text\n{}\n```\n\n", text(rule, "update"));
            let _ = writeln!(page, "- **What it does**: {}", text(rule, "summary"));
            let _ = writeln!(page, "- **Prefer it** {}", text(rule, "prefer"));
            let _ = writeln!(page, "- **Source and bound**: {}", text(rule, "source"));
            let proven = if rule["bound"] == true { "yes" } else { "no" };
            let _ = writeln!(page, "- **Has a mistake bound**: {proven}");
            if !rule["rate"].is_null() {
                let _ = writeln!(page, "- **Learning rate**: {}", text(rule, "rate"));
            }
            if !list(rule, "aliases").is_empty() {
                let _ = writeln!(page, "- **Other names**: {}", names(list(rule, "aliases")));
            }
            page.push('\n');
            page.push_str(&parameters(rule));
            if task == "classes" {
                let _ = write!(page, "![{name} on four points](rules/{name}.svg)\n\n");
            }
        }
    }
    page
}

fn kernels(catalogue: &Value) -> String {
    let mut page = String::from("# Kernels and maps\n\n`--kernel NAME` learns with a kernel.\n\n");
    for kernel in list(catalogue, "kernels") {
        let _ = write!(page, "## {}\n\n", text(kernel, "name"));
        let _ = write!(page, "```text\n{}\n```\n\n", text(kernel, "formula"));
        let _ = writeln!(page, "- **Prefer it** {}", text(kernel, "prefer"));
        if !list(kernel, "aliases").is_empty() {
            let _ = writeln!(page, "- **Other names**: {}", names(list(kernel, "aliases")));
        }
        page.push('\n');
        page.push_str(&parameters(kernel));
    }
    page.push_str("## Feature maps\n\n`--map NAME` approximates a kernel at the speed of a hyperplane.\n\n");
    let row = |map: &Value| {
        let kernels = names(list(map, "kernels"));
        let kernels = if kernels.is_empty() { "any".to_owned() } else { kernels };
        vec![format!("`{}`", text(map, "name")), cell(&map["summary"]), kernels, cell(&map["source"])]
    };
    page + &table(&["map", "what it computes", "kernels", "source"], list(catalogue, "maps").iter().map(row))
}

fn formats(catalogue: &Value) -> String {
    let mut page = String::from(
        "# File formats\n\nThe guide's page [Formats](../docs/guide/formats.md) says how to use them.\n\n",
    );
    let purposes = [
        ("read", "Read"),
        ("written", "Written by `convert`"),
        ("predictions", "Predictions"),
        ("export", "Models"),
    ];
    for (purpose, title) in purposes {
        let row = |format: &Value| {
            let extensions = names(list(format, "extensions"));
            vec![format!("`{}`", text(format, "name")), cell(&format["about"]), extensions]
        };
        let formats = list(catalogue, "formats").iter().filter(|format| format["purpose"] == purpose);
        let _ = write!(
            page,
            "## {title}\n\n{}",
            table(&["format", "what it is", "file names end in"], formats.map(row))
        );
    }
    page
}

/// The help of every command.
fn commands(program: &Path, catalogue: &Value) -> Result<String, String> {
    let mut page = String::from("# Commands\n\nWhat `rosenblatt COMMAND --help` prints.\n\n");
    for command in list(catalogue, "commands") {
        let name = text(command, "name");
        let help = output(Command::new(program).args([name, "--help"]))?;
        let _ = write!(page, "## {name}\n\n```text\n{}\n```\n\n", help.trim_end());
    }
    Ok(page)
}

/// Draws what each rule learns.
fn draw_rules(program: &Path, catalogue: &Value) -> Result<(), String> {
    write(Path::new("reference/rules/points.csv"), POINTS.as_bytes())?;
    let folder = Path::new(SOURCES).join("reference/rules");
    for rule in list(catalogue, "algorithms").iter().filter(|rule| rule["task"] == "classes") {
        let name = text(rule, "name");
        let words = ["plot", "boundary", "points.csv", "--quiet", "--algorithm", name, "--output"];
        output(Command::new(program).args(words).arg(format!("{name}.svg")).current_dir(&folder))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_has_every_page_of_the_guide_in_the_order_of_its_index() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let index = fs::read_to_string(root.join(INDEX)).unwrap();
        let parts = contents(&index);
        assert_eq!(
            parts.iter().map(|(title, _)| *title).collect::<Vec<_>>(),
            ["Tutorials", "By task", "To understand", "To look up"]
        );
        let pages: Vec<&PathBuf> = parts.iter().flat_map(|(_, pages)| pages).map(|(_, page)| page).collect();
        for entry in fs::read_dir(root.join("docs/guide")).unwrap() {
            let page = Path::new("docs/guide").join(entry.unwrap().file_name());
            assert!(page == Path::new(INDEX) || pages.contains(&&page), "{}", page.display());
        }
        assert!(pages.iter().all(|page| root.join(page).is_file()));
    }

    #[test]
    fn links_are_found_and_followed_within_the_tree() {
        let text =
            "[one](a.md), ![two](../b/c.svg#d) and [three](https://example.org) `x[0](y` [four](#here)";
        let found: Vec<_> =
            links(text).iter().filter_map(|(_, link)| resolve(Path::new("docs/guide/p.md"), link)).collect();
        assert_eq!(found, [PathBuf::from("docs/guide/a.md"), PathBuf::from("docs/b/c.svg")]);
        assert_eq!(links(text)[0].0, "one");
        assert_eq!(resolve(Path::new("README.md"), "../outside"), None);
    }
}
