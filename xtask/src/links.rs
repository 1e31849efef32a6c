//! House rule: every link of a Markdown page in this tree leads to a file that is there, and to a heading in it.

use crate::tidy::files;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What starts a link that leads out of the tree, or to what the program serves.
const ELSEWHERE: [&str; 3] = ["http://", "https://", "mailto:"];

/// The dead links of all pages.
pub(crate) fn complaints() -> Result<Vec<String>, String> {
    let folders = [".github", "bench", "crates", "docs", "install", "python"].map(Path::new);
    let mut pages: Vec<PathBuf> = folders.iter().flat_map(|folder| files(folder, &["md"])).collect();
    let here = fs::read_dir(".").map_err(|error| error.to_string())?.flatten().map(|entry| entry.path());
    pages.extend(here.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    let mut texts = HashMap::new();
    for page in &pages {
        let text = fs::read_to_string(page).map_err(|error| format!("{}: {error}", page.display()))?;
        texts.insert(fs::canonicalize(page).map_err(|error| error.to_string())?, text);
    }
    let mut complaints = Vec::new();
    for page in &pages {
        let whole = fs::canonicalize(page).map_err(|error| error.to_string())?;
        let folder = whole.parent().unwrap_or(Path::new(""));
        for (line, link) in links(&texts[&whole]) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if file.is_empty() { Ok(whole.clone()) } else { fs::canonicalize(folder.join(file)) };
            let there = match (&target, texts.get(target.as_ref().unwrap_or(&whole))) {
                (Err(_), _) => false,
                (Ok(_), Some(text)) if !heading.is_empty() => {
                    headings(text).iter().any(|name| name == heading)
                }
                (Ok(_), _) => true,
            };
            if !there {
                complaints.push(format!("{}:{line}: the link `{link}` leads nowhere", page.display()));
            }
        }
    }
    Ok(complaints)
}

/// The lines of a page that are prose, numbered from 1: what stands in fences is code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number + 1, line))
    })
}

/// The links of a page that stay in the tree, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let of_line = |(number, line)| {
        let targets = str::split(line, "](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.map(move |target| (number, target))
    };
    let leads_on = |(_, link): &(usize, &str)| {
        !link.is_empty() && !link.contains(' ') && !ELSEWHERE.iter().any(|start| link.starts_with(start))
    };
    prose(text).flat_map(of_line).filter(leads_on).collect()
}

/// The headings of a page as links name them: small letters, no signs, a hyphen for a space, a number for a repetition.
fn headings(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let titles = prose(text).filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len()).then(|| title.strip_prefix(' '))?
    });
    let name = |title: &str| {
        let kept = title.trim().to_lowercase();
        kept.chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect::<String>()
    };
    let mut names = Vec::new();
    for title in titles {
        let name = name(title);
        let times = seen.entry(name.clone()).or_insert(0);
        names.push(if *times == 0 { name } else { format!("{name}-{times}") });
        *times += 1;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{headings, links};

    #[test]
    fn links_that_stay_in_the_tree_are_found_with_their_lines() {
        let page = "[a](x.md) and [`b`](y.md#c)\n```\n[no](z.md)\n```\n[out](https://example.org) [d](#e)";
        assert_eq!(links(page), [(1, "x.md"), (1, "y.md#c"), (5, "#e")]);
    }

    #[test]
    fn headings_are_named_as_links_name_them() {
        let page = "# A `b`, c\n## What is it?\n```\n# no\n```\n## What is it?\n#!no";
        assert_eq!(headings(page), ["a-b-c", "what-is-it", "what-is-it-1"]);
    }
}
