//! The formula, the recipe and the container file of a release, each tried by what can be had here: the formula by Ruby with
//! Homebrew's words replaced, the recipe by rattler-build itself, the container by buildah. What is missing is named.

use super::{find, text};
use crate::tools::output_of;
use crate::{python, say};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What builds conda packages, as a Python package.
const RATTLER: &[&str] = &["py-rattler-build==0.73.0"];

/// Tries those that were filled in, in a folder of their own.
pub(super) fn try_out(folder: &Path, room: &Path) -> Result<(), String> {
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, tried) in [
        ("rosenblatt.rb", formula as fn(&Path, &Path) -> Result<(), String>),
        ("recipe.yaml", recipe),
        ("Containerfile", container),
    ] {
        if folder.join(name).exists() {
            tried(&folder, room)?;
        } else {
            say(&format!("{name} was left out, so it was not tried"));
        }
    }
    Ok(())
}

fn formula(folder: &Path, _room: &Path) -> Result<(), String> {
    if find("ruby").is_none() {
        say("ruby is not here, so the formula was not tried");
        return Ok(());
    }
    // No space in it, as in Homebrew's own folders.
    let to = std::env::temp_dir().join(format!("rosenblatt-formula-{}", std::process::id()));
    let mut ruby = Command::new("ruby");
    ruby.arg("xtask/src/install/formula.rb").arg(folder.join("rosenblatt.rb")).arg(folder).arg(&to);
    let ran = output_of(&mut ruby).map_err(|error| format!("rosenblatt.rb: {error}"));
    let _ = fs::remove_dir_all(&to);
    ran?;
    say("rosenblatt.rb names the archives and installs this machine's, with Homebrew's words replaced");
    Ok(())
}

fn recipe(folder: &Path, room: &Path) -> Result<(), String> {
    let Some(python) = python::environment("recipes", RATTLER)? else { return Ok(()) };
    let mut build = Command::new(python);
    build.arg("xtask/src/install/recipe.py").arg(folder.join("recipe.yaml")).arg(folder);
    let printed =
        output_of(build.arg(room.join("recipe"))).map_err(|error| format!("recipe.yaml: {error}"))?;
    say(&format!("recipe.yaml holds for five platforms; {}", printed.lines().last().unwrap_or_default()));
    Ok(())
}

/// Builds the image, which holds one static program, and runs that in it.
fn container(folder: &Path, room: &Path) -> Result<(), String> {
    if find("buildah").is_none() || !cfg!(target_os = "linux") {
        say("buildah is not here, so the container file was not tried");
        return Ok(());
    }
    let buildah = |words: &[&str]| {
        let mut command = Command::new("buildah");
        command.args(["--storage-driver", "vfs", "--root"]).arg(room.join("images"));
        command.arg("--runroot").arg(room.join("running")).args(words);
        output_of(&mut command).map_err(|error| format!("buildah {words:?}: {error}"))
    };
    let target = format!("TARGET={}-unknown-linux-musl", std::env::consts::ARCH);
    let place = text(folder);
    buildah(&[
        "bud",
        "--quiet",
        "--isolation",
        "chroot",
        "--build-arg",
        &target,
        "--tag",
        "rosenblatt",
        &place,
    ])?;
    let running = buildah(&["from", "rosenblatt"])?;
    let mounted = buildah(&["mount", running.trim()])?;
    let mut inside = Command::new("chroot");
    let answer = output_of(inside.arg(mounted.trim()).args(["/usr/bin/rosenblatt", "--version"]));
    buildah(&["rm", "--all"])?;
    say(&format!("the container file builds, and the program in it is {}", answer?.trim()));
    Ok(())
}
