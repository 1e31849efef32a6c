//! The server over a real socket: every path, every body, learning that is never lost, and clients that mean no good.

mod api;
mod bench;
mod damage;
mod durability;
mod encrypted;
mod fuzz;
mod hostile;
mod lineage;
mod table;
