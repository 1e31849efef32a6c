//! `cargo xtask install [FOLDER]`: what people install with, filled in from `install/` and the archives of a release, and tried.
//!
//! `fill` writes the shell and the PowerShell script, the formula, the recipe and the container file into the folder of the
//! archives: version, address and sums come from Cargo.toml and the archives, and stand nowhere else. `try_out` runs the shell
//! script in every shell that is here, from a folder and over HTTP, with everything that can go wrong: afterwards there is
//! either all of it or what there was before. Then it tries the formula, the recipe and the container file. No PowerShell is
//! needed, so `install.ps1` is only read, by `cargo xtask workflows`.

mod others;

use crate::release::{digest, of_workspace};
use crate::say;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// The templates, which have the names of what is made of them.
const TEMPLATES: [&str; 5] = ["Containerfile", "install.ps1", "install.sh", "recipe.yaml", "rosenblatt.rb"];

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let folder = words.first().map_or(Path::new("target/dist"), Path::new);
    fill(folder)?;
    try_out(folder)
}

/// The name of the archive for a platform.
pub(crate) fn archive(version: &str, target: &str) -> String {
    let ending = if target.contains("windows") { "zip" } else { "tar.gz" };
    format!("rosenblatt-{version}-{target}.{ending}")
}

/// Fills in the templates. One that needs the sum of an archive that is not there is left out, and named.
pub(crate) fn fill(folder: &Path) -> Result<(), String> {
    let (version, address) = (of_workspace("version")?, of_workspace("repository")?);
    for name in TEMPLATES {
        let template = fs::read_to_string(Path::new("install").join(name))
            .map_err(|error| format!("install/{name}: {error}"))?;
        let out = folder.join(name);
        let failed = |error: std::io::Error| format!("{}: {error}", out.display());
        match filled(&template, &version, &address, |archive| digest(&folder.join(archive)).ok()) {
            Ok(text) => fs::write(&out, text).map_err(failed)?,
            Err(missing) => {
                say(&format!(
                    "{name} needs {missing}, which is not in {}, so it was left out",
                    folder.display()
                ));
                if out.exists() {
                    fs::remove_file(&out).map_err(failed)?;
                }
            }
        }
    }
    Ok(())
}

/// A template with its `@WORDS@` replaced, or the archive whose sum is not known.
fn filled(
    template: &str,
    version: &str,
    address: &str,
    sum: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let text = template.replace("@VERSION@", version).replace("@REPOSITORY@", address);
    let mut parts = text.split("@SHA256 ");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (target, rest) = part.split_once('@').ok_or("a sum without a target")?;
        let name = archive(version, target);
        filled.push_str(&sum(&name).ok_or(name)?);
        filled.push_str(rest);
    }
    Ok(filled)
}

/// Runs the shell script of a folder of archives through good days and bad ones.
pub(crate) fn try_out(folder: &Path) -> Result<(), String> {
    let version = of_workspace("version")?;
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    let archive = archive(&version, &format!("{}-{system}", std::env::consts::ARCH));
    // A space in every path.
    let room = std::env::temp_dir().join(format!("rosenblatt install {}", std::process::id()));
    let outcome = Room::new(&room, folder, &archive).and_then(|room| {
        for shell in [&["dash"][..], &["bash"], &["busybox", "sh"]] {
            if find(shell[0]).is_some() {
                room.all(shell)?;
                say(&format!("install.sh holds in {}", shell.join(" ")));
            } else {
                say(&format!("{} is not here, so install.sh was not tried in it", shell[0]));
            }
        }
        others::try_out(folder, &room.home)
    });
    let _ = fs::remove_dir_all(&room);
    outcome
}

/// Where the script is tried.
struct Room {
    /// Good archives, and one folder for each way to be wrong.
    good: PathBuf,
    damaged: PathBuf,
    nameless: PathBuf,
    empty: PathBuf,
    script: PathBuf,
    /// Where it unpacks, to be empty in the end.
    temporary: PathBuf,
    home: PathBuf,
}

/// Files below a folder and what is in them, by name.
type Contents = Vec<(PathBuf, String)>;

impl Room {
    fn new(room: &Path, folder: &Path, archive: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", room.display());
        let made = |name: &str| {
            let path = room.join(name);
            fs::create_dir_all(&path).map(|()| path).map_err(failed)
        };
        let (good, damaged, nameless, empty) =
            (made("good one")?, made("damaged")?, made("nameless")?, made("empty")?);
        let script = good.join("install.sh");
        fs::copy(folder.join("install.sh"), &script).map_err(failed)?;
        let mut bytes = fs::read(folder.join(archive))
            .map_err(|error| format!("{}: {error}", folder.join(archive).display()))?;
        let sums =
            format!("{}  other.tar.gz\n{}  {archive}\n", "0".repeat(64), digest(&folder.join(archive))?);
        for (folder, bytes, sums) in
            [(&good, Some(&bytes), sums.as_str()), (&nameless, Some(&bytes), "\n"), (&empty, None, "\n")]
        {
            fs::write(folder.join("SHA256SUMS"), sums).map_err(failed)?;
            if let Some(bytes) = bytes {
                fs::write(folder.join(archive), bytes).map_err(failed)?;
            }
        }
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(damaged.join(archive), &bytes).map_err(failed)?;
        fs::write(damaged.join("SHA256SUMS"), &sums).map_err(failed)?;
        let temporary = made("temporary files")?;
        Ok(Self { good, damaged, nameless, empty, script, temporary, home: room.to_owned() })
    }

    /// Everything, in one shell.
    fn all(&self, shell: &[&str]) -> Result<(), String> {
        let to = self.home.join("home of one/bin");
        let before = Contents::new();
        let try_it = Try { room: self, shell, path: self.path(shell)?, to: to.clone() };
        let (good, damaged) = (text(&self.good), text(&self.damaged));

        // Nothing is there yet, and nothing may be there after a failure.
        try_it.fails(&damaged, &[], "is damaged or was changed", &before)?;
        try_it.fails(&text(&self.nameless), &[], "SHA256SUMS has no sum for", &before)?;
        try_it.fails(&text(&self.home.join("nowhere")), &[], "cannot be read", &before)?;
        try_it.fails(
            &good,
            &["--version", "9.9.9"],
            "SHA256SUMS has no sum for rosenblatt-9.9.9-",
            &before,
        )?;
        try_it.fails("http://example.org/x", &[], "is not encrypted", &before)?;
        try_it.fails(&good, &["--frob"], "unknown option --frob", &before)?;
        let whole = Server::open(self.good.clone(), Manners::Whole)?;
        try_it.fails(&format!("{}/nowhere", whole.address), &[], "the download failed", &before)?;
        let cut = Server::open(self.good.clone(), Manners::Half)?;
        try_it.fails(&cut.address, &[], "error: ", &before)?;
        self.ended(&try_it, &before)?;
        self.platforms(&try_it)?;

        // A file where folders should be: no right to write stops root, but this does.
        let blocked = Try { to: self.script.join("bin"), ..try_it.clone() };
        blocked.fails(&good, &[], "choose another folder with --to", &before)?;
        let half = self.home.join("half/bin");
        fs::create_dir_all(&half)
            .and_then(|()| fs::write(self.home.join("half/share"), "a file"))
            .map_err(|error| error.to_string())?;
        let only_share = contents(&self.home.join("half"))?;
        let blocked = Try { to: half, ..try_it.clone() };
        blocked.fails(&good, &[], "choose another folder with --to", &only_share)?;

        // From a folder, twice, and over HTTP.
        let printed = try_it.succeeds(&good, &[])?;
        if !printed.contains("export PATH=") {
            return Err(format!("{shell:?}: the PATH was not explained: {printed}"));
        }
        let installed = contents(&self.home.join("home of one"))?;
        for name in ["bin/rosenblatt", "share/man/man1/rosenblatt.1", "share/zsh/site-functions/_rosenblatt"]
        {
            if !installed.iter().any(|(path, _)| path.ends_with(name)) {
                return Err(format!("{shell:?}: {name} was not installed"));
            }
        }
        let answer = Command::new(to.join("rosenblatt"))
            .arg("--version")
            .output()
            .map_err(|error| error.to_string())?;
        if !answer.status.success() {
            return Err(format!("{shell:?}: the installed program does not run"));
        }
        try_it.succeeds(&format!("file://{good}"), &[])?;
        try_it.succeeds(&whole.address, &[])?;
        if contents(&self.home.join("home of one"))? != installed {
            return Err(format!("{shell:?}: two installations differ"));
        }
        // What is there stays when an update fails, and leaves with the rest if an older version had it alone.
        try_it.fails(&damaged, &[], "is damaged or was changed", &installed)?;
        let (list, old) = (self.home.join("home of one/share/rosenblatt/installed"), to.join("old-page"));
        let listed = fs::read_to_string(&list).unwrap_or_default();
        fs::write(&list, format!("{listed}{}\n", text(&old)))
            .and_then(|()| fs::write(&old, ""))
            .map_err(|error| error.to_string())?;
        try_it.succeeds(&good, &[])?;
        if contents(&self.home.join("home of one"))? != installed {
            return Err(format!("{shell:?}: a page of an older version stayed"));
        }
        try_it.succeeds(&good, &["--uninstall"])?;
        try_it.fails(&good, &["--uninstall"], "installed nothing", &before)
    }

    /// The commands that the script finds: those of busybox alone, in its shell.
    fn path(&self, shell: &[&str]) -> Result<String, String> {
        if shell[0] != "busybox" {
            return Ok(std::env::var("PATH").unwrap_or_default());
        }
        let folder = self.home.join("busybox");
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let names = crate::tools::output_of(Command::new("busybox").arg("--list"))?;
        let program = find("busybox").ok_or("there is no busybox")?;
        for name in names.lines().filter(|name| !folder.join(name).exists()) {
            crate::tools::output_of(Command::new("ln").arg("-s").arg(&program).arg(folder.join(name)))?;
        }
        Ok(text(&folder))
    }

    /// Ended in the middle of the download.
    fn ended(&self, try_it: &Try, before: &Contents) -> Result<(), String> {
        let slow = Server::open(self.good.clone(), Manners::Slow)?;
        let mut command = try_it.command(&slow.address, &[]);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(|error| error.to_string())?;
        let asked = slow.asked.iter().take(2).count();
        let _ = Command::new("kill").arg(child.id().to_string()).status();
        drop(slow.let_go);
        let status = child.wait().map_err(|error| error.to_string())?;
        if asked != 2 || status.success() {
            return Err(format!("{:?}: ended while downloading, and {status}", try_it.shell));
        }
        try_it.left(before)
    }

    /// Which archive it takes for which machine, by a `uname` that lies.
    fn platforms(&self, try_it: &Try) -> Result<(), String> {
        let folder = self.home.join("uname");
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        for (system, machine, words, expected) in [
            ("Linux", "x86_64", &[][..], "x86_64-unknown-linux-musl"),
            ("Linux", "aarch64", &[], "aarch64-unknown-linux-musl"),
            ("Linux", "amd64", &["--gpu"], "x86_64-unknown-linux-gnu"),
            ("Darwin", "arm64", &[], "aarch64-apple-darwin"),
            ("Darwin", "x86_64", &[], "x86_64-apple-darwin"),
            ("Darwin", "x86_64", &["--gpu"], "NVIDIA GPUs on Linux"),
            ("Linux", "riscv64", &[], "no released program for the processor riscv64"),
            ("FreeBSD", "amd64", &[], "no released program for FreeBSD"),
            ("MINGW64_NT-10.0", "x86_64", &[], "use install.ps1"),
        ] {
            let script =
                format!("#!/bin/sh\nif [ \"$1\" = -s ]; then echo {system}; else echo {machine}; fi\n");
            let path = folder.join("uname");
            fs::write(&path, script).map_err(|error| error.to_string())?;
            let _ = Command::new("chmod").arg("755").arg(&path).status();
            let lying = Try { path: format!("{}:{}", folder.display(), try_it.path), ..try_it.clone() };
            lying.fails(&text(&self.empty), words, expected, &Contents::new())?;
        }
        Ok(())
    }
}

/// One shell, and where it is to install.
#[derive(Clone)]
struct Try<'a> {
    room: &'a Room,
    shell: &'a [&'a str],
    path: String,
    to: PathBuf,
}

impl Try<'_> {
    fn command(&self, from: &str, words: &[&str]) -> Command {
        // The shell is found by our own path, and finds what it calls by another.
        let shell = find(self.shell[0]).unwrap_or_else(|| PathBuf::from(self.shell[0]));
        let mut command = Command::new(shell);
        command.args(&self.shell[1..]).arg(&self.room.script).arg("--to").arg(&self.to).args(words);
        command.env("ROSENBLATT_DOWNLOAD", from).env("TMPDIR", &self.room.temporary).env("PATH", &self.path);
        command.stdin(Stdio::null());
        command
    }

    fn output(&self, from: &str, words: &[&str]) -> Result<(Output, String), String> {
        let output = self.command(from, words).output().map_err(|error| error.to_string())?;
        let printed = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
        Ok((output, printed))
    }

    /// The script succeeds and leaves no temporary files; what it printed.
    fn succeeds(&self, from: &str, words: &[&str]) -> Result<String, String> {
        let (output, printed) = self.output(from, words)?;
        if !output.status.success() || !contents(&self.room.temporary)?.is_empty() {
            return Err(format!(
                "{:?}, from {from} {words:?}: {}, and it printed:\n{printed}",
                self.shell, output.status
            ));
        }
        Ok(printed)
    }

    /// The script fails, says why, and leaves what there was before.
    fn fails(&self, from: &str, words: &[&str], why: &str, before: &Contents) -> Result<(), String> {
        let (output, printed) = self.output(from, words)?;
        if output.status.success() || !printed.contains(why) {
            return Err(format!(
                "{:?}, from {from} {words:?}: expected \"{why}\", but it printed:\n{printed}",
                self.shell
            ));
        }
        self.left(before)
    }

    fn left(&self, before: &Contents) -> Result<(), String> {
        let place = self.to.parent().filter(|place| place.is_dir());
        let there = place.map_or(Ok(Contents::new()), contents)?;
        let temporary = contents(&self.room.temporary)?;
        if there != *before || !temporary.is_empty() {
            return Err(format!("{:?}: half of it was left: {there:?}, {temporary:?}", self.shell));
        }
        Ok(())
    }
}

/// Where a program is, if it is.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// All files below a folder, sorted, with their sums.
fn contents(folder: &Path) -> Result<Contents, String> {
    let mut found = Contents::new();
    let Ok(entries) = fs::read_dir(folder) else { return Ok(found) };
    for entry in entries.flatten() {
        if entry.path().is_dir() {
            found.extend(contents(&entry.path())?);
        } else {
            found.push((entry.path(), digest(&entry.path())?));
        }
    }
    found.sort();
    Ok(found)
}

/// How a server answers.
#[derive(Clone, Copy, PartialEq)]
enum Manners {
    Whole,
    /// Promises a whole archive, and hangs up after half of it.
    Half,
    /// The same, once it is let go.
    Slow,
}

/// A server of one folder on loopback, for as long as the process lives.
struct Server {
    address: String,
    asked: Receiver<()>,
    let_go: std::sync::mpsc::Sender<()>,
}

impl Server {
    fn open(folder: PathBuf, manners: Manners) -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let address = format!("http://{}", listener.local_addr().map_err(|error| error.to_string())?);
        let ((tell, asked), (let_go, wait)) = (channel(), channel());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = tell.send(());
                let _ = answer(stream, &folder, manners, &wait);
            }
        });
        Ok(Self { address, asked, let_go })
    }
}

/// Answers one request.
fn answer(
    mut stream: TcpStream,
    folder: &Path,
    manners: Manners,
    wait: &Receiver<()>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let name = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
    let Ok(body) = fs::read(folder.join(name)) else {
        return stream.write_all(b"HTTP/1.0 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    };
    write!(stream, "HTTP/1.0 200 OK\r\ncontent-length: {}\r\n\r\n", body.len())?;
    let is_cut = manners != Manners::Whole && name != "SHA256SUMS";
    stream.write_all(if is_cut { &body[..body.len() / 2] } else { &body })?;
    if is_cut && manners == Manners::Slow {
        // Until the other end of the channel is dropped.
        let _ = wait.recv();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_or_left_out() {
        let sum = |name: &str| (name == "rosenblatt-1.2-a-windows.zip").then(|| "f00".to_owned());
        let template = "v@VERSION@ @REPOSITORY@ @SHA256 a-windows@; a@b.c";
        assert_eq!(filled(template, "1.2", "https://x", sum).unwrap(), "v1.2 https://x f00; a@b.c");
        assert_eq!(filled("@SHA256 mac@", "1.2", "x", sum).unwrap_err(), "rosenblatt-1.2-mac.tar.gz");
    }

    #[test]
    fn binstall_finds_the_archives_of_a_release() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = fs::read_to_string(root.join("crates/cli/Cargo.toml")).unwrap();
        let url = |section: &str, target: &str| {
            let part = manifest.split(&format!("[package.metadata.binstall{section}]\n")).nth(1).unwrap();
            let url = crate::tidy::value_of(part, "pkg-url").unwrap();
            url.replace("{ version }", "1.2").replace("{ target }", target)
        };
        let expected = |target| format!("{{ repo }}/releases/download/v1.2/{}", archive("1.2", target));
        for target in ["x86_64-unknown-linux-musl", "aarch64-apple-darwin"] {
            assert_eq!(url("", target), expected(target));
        }
        let windows = "x86_64-pc-windows-gnu";
        assert_eq!(url(".overrides.x86_64-pc-windows-gnu", windows), expected(windows));
        assert_eq!(url(".overrides.x86_64-pc-windows-msvc", "x86_64-pc-windows-msvc"), expected(windows));
    }
}
