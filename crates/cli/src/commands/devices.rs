//! `rosenblatt devices`: the processor, and the cards that kernels can be computed on.

use crate::failure::Failure;
use crate::ui;
use rosenblatt::device::cards;
use serde_json::json;
use std::fmt::Write as _;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  rosenblatt devices\n  rosenblatt train digits.csv --kernel polynomial --device gpu:0"
)]
pub(crate) struct Args {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (found, why) = match cards() {
        Ok(found) => (found, None),
        Err(trouble) => (Vec::new(), Some(trouble.to_string())),
    };
    let capability = |(major, minor): (i32, i32)| format!("{major}.{minor}");
    if args.json {
        let cards = found.iter().map(|card| {
            let name = format!("gpu:{}", card.number);
            json!({ "device": name, "name": card.name, "memory": card.memory, "capability": capability(card.capability) })
        });
        let cards: Vec<_> = cards.collect();
        return ui::print(&format!("{}\n", json!({ "cores": cores, "cards": cards, "trouble": why })));
    }
    let mut text = format!("cpu    {}\n", ui::counted(cores as u64, "core", "cores"));
    for card in found {
        let (name, memory) = (&card.name, card.memory >> 30);
        let _ = writeln!(
            text,
            "gpu:{}  {name}, {memory} GiB, compute capability {}",
            card.number,
            capability(card.capability)
        );
    }
    if let Some(why) = why {
        let _ = writeln!(text, "gpu    none: {why}");
    }
    ui::print(&text)
}
