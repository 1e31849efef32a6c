//! The command line as a person meets it: every test runs the real program in a folder of its own.

mod bench;
mod catalogue;
mod certify;
mod commands;
mod compare;
mod convert;
mod export;
mod json;
mod kernel;
mod online;
mod predict;
mod readme;
mod safety;
mod snapshots;
mod streamed;
mod trace;
