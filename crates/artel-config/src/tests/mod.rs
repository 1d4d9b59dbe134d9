//! Settings from the outside: files, variables and flags go in, values or messages come
//! out.

mod complaints;
mod hooks;
mod hostile;
mod house;
mod layers;
mod models;
mod spending;
