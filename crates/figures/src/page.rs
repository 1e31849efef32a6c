//! A page that stands alone: one HTML file with its own style, no script, nothing fetched.
//!
//! Whatever is put on it is text and is escaped here; only pictures, which are drawn by us, go in as they are.

use rosenblatt_plot::escaped;
use std::fmt::Write as _;

/// A name longer than this is cut, and shown in full where the pointer rests.
const LONGEST_NAME: usize = 60;

/// A page in the making.
pub(crate) struct Page {
    title: String,
    body: String,
}

/// What a cell of a table is.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// A number, aligned to the right.
    Number(String),
    /// Words, aligned to the left.
    Text(String),
    /// The name of its row.
    Head(String),
}

impl Page {
    pub(crate) fn new(title: &str) -> Self {
        Self { title: title.to_owned(), body: format!("<h1>{}</h1>\n", name(title)) }
    }

    /// Begins a part of the page.
    pub(crate) fn section(&mut self, heading: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escaped(heading));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escaped(text));
    }

    /// The sentence for those who read no further.
    pub(crate) fn lead(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"lead\">{}</p>", escaped(text));
    }

    /// What must not be overlooked.
    pub(crate) fn warning(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"warning\" role=\"note\">{}</p>", escaped(text));
    }

    /// Numbers that should be seen first, each with what it is.
    pub(crate) fn tiles(&mut self, tiles: &[(String, &str)]) {
        self.body.push_str("<ul class=\"tiles\">\n");
        for (number, what) in tiles {
            let _ = writeln!(
                self.body,
                "<li><strong>{}</strong> <span>{}</span></li>",
                escaped(number),
                escaped(what)
            );
        }
        self.body.push_str("</ul>\n");
    }

    pub(crate) fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<Cell>]) {
        let _ = write!(
            self.body,
            "<div class=\"scroll\"><table>\n<caption>{}</caption>\n<thead><tr>",
            escaped(caption)
        );
        let is_text =
            |column: usize| rows.first().is_some_and(|row| matches!(row.get(column), Some(Cell::Text(_))));
        for (column, text) in head.iter().enumerate() {
            let class = if is_text(column) { " class=\"text\"" } else { "" };
            let _ = write!(self.body, "<th scope=\"col\"{class}>{}</th>", name(text));
        }
        self.body.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for cell in row {
                let _ = match cell {
                    Cell::Number(text) => write!(self.body, "<td>{}</td>", escaped(text)),
                    Cell::Text(text) => write!(self.body, "<td class=\"text\">{}</td>", escaped(text)),
                    Cell::Head(text) => write!(self.body, "<th scope=\"row\">{}</th>", name(text)),
                };
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody></table></div>\n");
    }

    /// Facts by name.
    pub(crate) fn facts(&mut self, caption: &str, facts: &[(&str, String)]) {
        let rows: Vec<Vec<Cell>> = facts
            .iter()
            .map(|(what, fact)| vec![Cell::Head((*what).to_owned()), Cell::Text(fact.clone())])
            .collect();
        self.table(caption, &["", ""], &rows);
    }

    /// A picture that was drawn as SVG, and what it shows.
    pub(crate) fn picture(&mut self, svg: &str, caption: &str) {
        let _ = writeln!(self.body, "<figure>{svg}<figcaption>{}</figcaption></figure>", escaped(caption));
    }

    /// A picture whose parts stand side by side where there is room, and below one another on a telephone.
    pub(crate) fn wide_picture(&mut self, wide: &str, narrow: &str, caption: &str) {
        let caption = escaped(caption);
        let _ = writeln!(
            self.body,
            "<figure class=\"wide\">{wide}{narrow}<figcaption>{caption}</figcaption></figure>"
        );
    }

    /// One of several things to look at: what it is, the picture of it, its words, and remarks with their names.
    pub(crate) fn card(
        &mut self,
        heading: &str,
        svg: Option<&str>,
        text: Option<&str>,
        remarks: &[(&str, String)],
    ) {
        let _ = writeln!(self.body, "<article>\n<h3>{}</h3>", escaped(heading));
        if let Some(svg) = svg {
            let _ = writeln!(self.body, "<figure>{svg}</figure>");
        }
        if let Some(text) = text {
            let _ = writeln!(self.body, "<blockquote>{}</blockquote>", escaped(text));
        }
        self.body.push_str("<dl>");
        for (what, remark) in remarks {
            let _ = write!(self.body, "<dt>{}</dt><dd>{}</dd>", escaped(what), escaped(remark));
        }
        self.body.push_str("</dl>\n</article>\n");
    }

    /// What is shown only to those who open it.
    pub(crate) fn fold(&mut self, heading: &str, fill: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<details><summary>{}</summary>", escaped(heading));
        fill(self);
        self.body.push_str("</details>\n");
    }

    /// Something to be copied.
    pub(crate) fn code(&mut self, text: &str) {
        let lines: Vec<String> = text.lines().map(escaped).collect();
        let _ = writeln!(self.body, "<pre><code>{}</code></pre>", lines.join("\n"));
    }

    /// The whole page.
    pub(crate) fn finish(self, foot: &str) -> String {
        let Self { title, body } = self;
        let style = include_str!("page.css");
        // Nothing may be fetched, even if a name should ever find a way around the escaping.
        let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
             <footer>{}</footer>\n</body>\n</html>\n",
            escaped(&title),
            escaped(foot)
        )
    }
}

/// A name, cut if it is long.
fn name(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(LONGEST_NAME) else { return escaped(text) };
    format!("<span title=\"{}\">{}…</span>", escaped(text), escaped(&text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_no_harm() {
        let mut page = Page::new("<script>alert(1)</script>");
        page.table("x", &["\"a\""], &[vec![Cell::Head("é".repeat(200)), Cell::Text("<b>\u{0}".to_owned())]]);
        let page = page.finish("foot & mouth");
        assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\u{0}'));
        assert!(page.contains("&lt;script&gt;") && page.contains("foot &amp; mouth"));
        assert!(page.contains(&format!("{}…", "é".repeat(60))));
        assert!(page.contains(&format!("title=\"{}\"", "é".repeat(200))));
        // A table scrolls rather than break the words of its heads.
        let breaks =
            |line: &str| line.contains("overflow-wrap: anywhere") && line.trim_start().starts_with("th");
        assert!(!page.lines().any(breaks));
    }
}
