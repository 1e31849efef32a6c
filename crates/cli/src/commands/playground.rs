//! `rosenblatt playground`: the page that shows perceptrons at work, served from the program itself.

use crate::failure::Failure;
use crate::signals;
use crate::ui;
use rosenblatt_server::Playground;
use std::net::{Ipv4Addr, SocketAddr};

#[derive(clap::Args)]
#[command(after_help = "The page needs no network: the engine runs in the browser, and nothing that it
is shown leaves it. Any static host can serve the folder `site` of the sources
as well.

Examples:
  rosenblatt playground
  rosenblatt playground --port 0")]
pub(crate) struct Args {
    /// Listen on this port of this machine; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 8081)]
    port: u16,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    signals::be_careful();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let playground = Playground::open(address).map_err(|error| Failure::Work(error.to_string()))?;
    ui::print(&format!("the playground is at http://{}/\n", playground.address()?))?;
    playground.run(|| signals::asked().is_some());
    signals::answer("the page is no longer served")
}
