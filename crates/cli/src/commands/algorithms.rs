//! `rosenblatt algorithms [NAME]`: the table of algorithms, or one of them in full.

use crate::failure::Failure;
use crate::ui;
use rosenblatt::core::Info;
use rosenblatt::{ALGORITHMS, find};
use std::fmt::Write as _;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  rosenblatt algorithms\n  rosenblatt algorithms pa1")]
pub(crate) struct Args {
    /// Explain this one
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let infos: Vec<Info> = match &args.name {
        Some(name) => vec![find(name).map_err(|error| Failure::Usage(error.to_string()))?.info],
        None => ALGORITHMS.iter().map(|entry| entry.info).collect(),
    };
    if args.json {
        let list: Vec<_> = infos.iter().map(json).collect();
        return ui::print(&format!("{}\n", serde_json::Value::from(list)));
    }
    if args.name.is_some() {
        return ui::print(&infos.iter().map(explain).collect::<String>());
    }
    let mut text = String::new();
    for info in &infos {
        let _ = writeln!(text, "{:<18} {}", info.name, info.summary);
    }
    let _ = writeln!(text, "\n`rosenblatt algorithms NAME` tells more of one.");
    ui::print(&text)
}

fn explain(info: &Info) -> String {
    let mut text = format!("{}: {}\n\n", info.name, info.summary);
    let _ = writeln!(text, "  update  {}", info.update);
    let _ = writeln!(text, "  source  {}", info.source);
    let _ = writeln!(text, "  prefer  {}", info.prefer);
    if !info.aliases.is_empty() {
        let _ = writeln!(text, "  alias   {}", info.aliases.join(", "));
    }
    for param in info.params {
        let _ =
            writeln!(text, "  --param {}={}  {} ({})", param.name, param.default, param.meaning, param.range);
    }
    if info.rate {
        let _ = writeln!(text, "  --rate  takes a learning rate: 1, 0.5/k, 1/sqrt(k) or 1/k^0.25");
    }
    text
}

fn json(info: &Info) -> serde_json::Value {
    let params: Vec<_> = info
        .params
        .iter()
        .map(|param| {
            serde_json::json!({
                "name": param.name, "meaning": param.meaning,
                "default": param.default, "range": param.range.to_string(),
            })
        })
        .collect();
    serde_json::json!({
        "name": info.name, "aliases": info.aliases, "summary": info.summary, "update": info.update,
        "source": info.source, "prefer": info.prefer, "params": params, "rate": info.rate,
    })
}
