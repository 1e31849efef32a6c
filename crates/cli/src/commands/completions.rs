//! `rosenblatt completions SHELL`: what the shell needs to complete our words.

use crate::failure::Failure;
use crate::ui;

#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  rosenblatt completions bash > ~/.local/share/bash-completion/completions/rosenblatt"
)]
pub(crate) struct Args {
    /// For which shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut crate::command(crate::brief::Help::All),
        "rosenblatt",
        &mut text,
    );
    ui::print(&String::from_utf8_lossy(&text))
}
