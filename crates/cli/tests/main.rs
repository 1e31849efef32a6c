//! The command line as a person meets it: every test runs the real program in a folder of its own.

mod bench;
#[cfg(unix)]
mod bounded;
mod catalogue;
mod certify;
#[cfg(unix)]
mod command_lines;
mod commands;
mod compare;
mod convert;
mod export;
#[cfg(unix)]
mod findings;
mod gallery;
mod glance;
#[cfg(unix)]
mod hardening;
mod json;
mod kernel;
mod maps;
mod messages;
mod network;
mod never_wrong;
mod online;
mod options;
#[cfg(unix)]
mod outputs;
#[cfg(unix)]
mod playground;
mod plot;
mod predict;
mod progress;
mod provenance;
mod race;
mod reading_options;
mod readme;
mod recipe;
mod regression;
mod report;
mod safety;
mod serve;
mod snapshots;
mod streamed;
mod tagger;
mod trace;

/// The reader of SVG that the plot crate's own tests use.
#[path = "../../plot/tests/reading/mod.rs"]
mod reading;
