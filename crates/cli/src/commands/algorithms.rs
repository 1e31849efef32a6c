//! `rosenblatt algorithms [NAME]`: the table of algorithms, or one of them in full.

use crate::failure::Failure;
use crate::ui;
use rosenblatt::algorithms::find;
use rosenblatt::catalogue;
use rosenblatt::catalogue::Algorithm;
use serde_json::json;
use std::fmt::Write as _;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  rosenblatt algorithms\n  rosenblatt algorithms pa1")]
pub(crate) struct Args {
    /// Explain this one
    name: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut algorithms = catalogue().algorithms;
    if let Some(name) = &args.name {
        let found = find(name).map_err(|error| Failure::Usage(error.to_string()))?.info.name;
        algorithms.retain(|algorithm| algorithm.name == found);
    }
    if args.json {
        return ui::print(&format!("{}\n", json!(algorithms)));
    }
    if args.name.is_some() {
        return ui::print(&algorithms.iter().map(explain).collect::<String>());
    }
    let mut text = String::new();
    for algorithm in &algorithms {
        let _ = writeln!(text, "{:<18} {}", algorithm.name, algorithm.summary);
    }
    let _ = writeln!(text, "\n`rosenblatt algorithms NAME` tells more of one.");
    ui::print(&text)
}

fn explain(algorithm: &Algorithm) -> String {
    let mut text = format!("{}: {}\n\n", algorithm.name, algorithm.summary);
    let _ = writeln!(text, "  update  {}", algorithm.update);
    let _ = writeln!(text, "  source  {}", algorithm.source);
    let _ = writeln!(text, "  prefer  {}", algorithm.prefer);
    if !algorithm.aliases.is_empty() {
        let _ = writeln!(text, "  alias   {}", algorithm.aliases.join(", "));
    }
    for param in &algorithm.params {
        let default = param.default.as_f64().unwrap_or_default();
        let _ = writeln!(text, "  --param {}={default}  {} ({})", param.name, param.meaning, param.range);
    }
    if let Some(rate) = algorithm.rate {
        let _ = writeln!(text, "  --rate  the learning rate: R, R/k, R/sqrt(k) or R/k^P [default: {rate}]");
    }
    text
}
