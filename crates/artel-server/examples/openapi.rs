//! Prints the description of the HTTP interface, for `cargo xtask docs`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    print!("{}", artel_server::openapi_page());
}
