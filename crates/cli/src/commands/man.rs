//! `rosenblatt man [COMMAND]`: the manual page, for `man -l -`.

use crate::failure::Failure;
use crate::ui;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  rosenblatt man train | man -l -")]
pub(crate) struct Args {
    /// The page of one command instead of the whole program's
    command: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut page = crate::command(crate::brief::Help::All);
    if let Some(name) = &args.command {
        let found = page.find_subcommand(name).cloned();
        page = found.ok_or_else(|| Failure::Usage(format!("there is no command `{name}`")))?;
        page = page.display_name(format!("rosenblatt-{name}"));
    }
    let mut text = Vec::new();
    // What `-h` leaves out is left without a word otherwise.
    clap_mangen::Man::new(page.mut_args(|arg| arg.hide_short_help(false))).render(&mut text)?;
    ui::print(&String::from_utf8_lossy(&text))
}
