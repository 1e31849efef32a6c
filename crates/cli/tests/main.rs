//! The command line as a person meets it: every test runs the real program in a folder of its own.

mod bench;
mod commands;
mod compare;
mod convert;
mod online;
mod predict;
mod readme;
mod streamed;
