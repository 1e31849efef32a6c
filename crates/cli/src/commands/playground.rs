//! `rosenblatt playground`: the page that shows perceptrons at work, served from the program itself.

use crate::failure::Failure;
use crate::signals;
use crate::ui;
use rosenblatt_server::Playground;
use std::fs::File;
use std::io::{ErrorKind, IsTerminal as _, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{io, thread};

/// Where the page is served unless a port is named.
const PORT: u16 = 8081;
/// How many ports are tried from there on.
const TRIED: u16 = 20;
/// The largest table that a page is opened with: a browser holds it, and the rows that are made of it.
const MOST_BYTES: u64 = 256 << 20;

#[derive(clap::Args)]
#[command(after_help = "The page needs no network: the engine runs in the browser, and your data stays
there. Any static host can serve the folder `site` of the sources as well.

Examples:
  rosenblatt playground
  rosenblatt playground data.csv
  rosenblatt playground --port 0 --no-open")]
pub(crate) struct Args {
    /// Table to show on the page
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Open with these settings, such as order=given. They are written as in the page's address after `#`
    #[arg(long, value_name = "SETTINGS", value_parser = settings)]
    settings: Option<String>,
    #[arg(long, value_name = "N", help = format!(
        "Listen on this port of the loopback interface. 0 picks a free one [default: {PORT}, or the next free one]"
    ))]
    port: Option<u16>,
    /// Print the address and open no browser
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    signals::be_careful();
    let table = args.file.as_deref().map(read).transpose()?;
    let playground = open(args.port, table.as_ref())?;
    let table = args.file.as_deref().and_then(Path::file_name);
    let table = table.map(|name| format!("table={}", encoded(&name.to_string_lossy())));
    let state: Vec<String> = table.into_iter().chain(args.settings.clone()).collect();
    let state = if state.is_empty() { String::new() } else { format!("#{}", state.join("&")) };
    let address = format!("http://{}/{state}", playground.address()?);
    ui::print(&format!("the playground is at {address}\n"))?;
    if !args.no_open && io::stdout().is_terminal() {
        show(&address);
    }
    playground.run(|| signals::asked().is_some());
    signals::answer("the page is no longer served")
}

/// Settings that an address can hold as they are.
fn settings(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "=&/:,;.-_+*%".contains(letter);
    if text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("it should be as in the page's address after `#`, for instance order=given".to_owned())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |why: String| Failure::Work(format!("{}: {why}", path.display()));
    let mut table = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut table));
    read.map_err(|error| failed(error.to_string()))?;
    if table.len() as u64 > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(failed(format!("a page holds at most {most} MiB; take a part of the rows")));
    }
    Ok(table)
}

/// Listens on the port that is named, or on the first free one of the usual.
fn open(port: Option<u16>, table: Option<&Vec<u8>>) -> Result<Playground, Failure> {
    let ports = port.map_or(PORT..=PORT + TRIED, |port| port..=port);
    let mut taken = None;
    for port in ports {
        match Playground::open(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), table.cloned()) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => taken = Some(error),
            opened => return opened.map_err(|error| Failure::Work(error.to_string())),
        }
    }
    let what = taken.map_or_else(String::new, |error| error.to_string());
    Err(Failure::Work(format!("{what}\nhelp: `--port 0` takes any port that is free")))
}

/// Opens a browser, if there is one; the address was printed anyway.
fn show(address: &str) {
    let (program, arguments): (_, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        // Not by `cmd`, which takes the `&` of an address for the end of a command.
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut browser) = command.spawn() {
        thread::spawn(move || browser.wait());
    }
}

/// A name as an address holds it.
fn encoded(name: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    name.bytes().map(letter).collect()
}
