//! Settings from the outside: files, variables and flags in, values or complaints out.

mod complaints;
mod hooks;
mod hostile;
mod house;
mod layers;
mod models;
mod spending;
