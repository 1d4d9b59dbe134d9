//! The reference pages that are generated from the code: `docs/events.md`, `docs/errors.md`
//! and `docs/openapi.json`.

use std::fs;

use artel_types::{Fact, FactPage, FailureCode, FailureKind};

use crate::args::Args;
use crate::process::{self, OutputEcho};
use crate::stop::XtaskError;

const NOTE: &str = "<!-- Made by `cargo xtask docs`; change the code and run it again. -->";

/// Writes the pages, or with `--check` fails if one is out of date.
pub(crate) fn run(mut args: Args) -> Result<(), XtaskError> {
    let checks = args.flag("--check");
    args.finish()?;
    if checks {
        return check();
    }
    for (path, page) in pages()? {
        fs::write(process::root().join(path), page)
            .map_err(|cause| XtaskError::because(path, cause))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Fails if a page differs from what the code generates.
pub(crate) fn check() -> Result<(), XtaskError> {
    for (path, page) in pages()? {
        if !fs::read_to_string(process::root().join(path)).is_ok_and(|found| found == page) {
            return Err(XtaskError::Failed(format!(
                "{path} is out of date: run `cargo xtask docs`"
            )));
        }
        println!("{path} is up to date");
    }
    Ok(())
}

/// Returns each page with its path relative to the workspace root.
fn pages() -> Result<[(&'static str, String); 3], XtaskError> {
    Ok([
        ("docs/events.md", events()),
        ("docs/errors.md", errors()),
        ("docs/openapi.json", interface()?),
    ])
}

/// Returns the OpenAPI description of the HTTP interface.
///
/// An example program of the server prints it. Linking the server here would make xtask
/// slow to build, and xtask is built before anything else.
fn interface() -> Result<String, XtaskError> {
    let args = [
        "run",
        "-q",
        "--locked",
        "-p",
        "artel-server",
        "--example",
        "openapi",
    ];
    let mut command = process::cargo(args);
    let mut page = String::new();
    let status = process::run_reading(&mut command, |line| {
        // Cargo may print lines of its own first.
        if page.is_empty() && line != "{" {
            return OutputEcho::Show;
        }
        page.push_str(line);
        page.push('\n');
        OutputEcho::Hide
    })?;
    process::judge(&command, status)?;
    Ok(page)
}

fn events() -> String {
    let mut page = format!(
        "# Events\n\n{NOTE}\n\n\
         Everything that Artel does is recorded as an event. This page lists every kind with the \
         fields of its payload. A record, once written, can be read by every later version.\n\n\
         | kind | schema | meaning |\n| --- | ---: | --- |\n"
    );
    for fact in Fact::PAGES {
        let (kind, schema) = (fact.kind, fact.schema);
        page += &format!(
            "| [`{kind}`](#{}) | {schema} | {} |\n",
            anchor(kind),
            cell(fact.doc)
        );
    }
    Fact::PAGES.iter().for_each(|fact| page += &event(fact));
    page
}

fn event(fact: &FactPage) -> String {
    let end = if fact.is_final {
        " Nothing follows it in its stream."
    } else {
        ""
    };
    let mut section = format!(
        "\n## `{}`\n\n{}{end} Schema {}.\n\n| field | form | meaning |\n| --- | --- | --- |\n",
        fact.kind,
        fact.doc.trim(),
        fact.schema,
    );
    for field in fact.fields {
        let (name, form) = (field.name, cell(field.form));
        section += &format!("| `{name}` | `{form}` | {} |\n", cell(field.doc));
    }
    section
}

fn errors() -> String {
    let mut page = format!(
        "# Errors and exit codes\n\n{NOTE}\n\n\
         Every error has a code, printed as `error[J003]`. `artel explain J003` prints the same \
         text as this page.\n\n## Exit codes\n\n| code | meaning |\n| ---: | --- |\n| 0 | done |\n"
    );
    for kind in FailureKind::ALL {
        page += &format!("| {} | {} |\n", kind.exit_code().0, cell(kind.meaning()));
    }
    page += "\n## Codes\n";
    for code in FailureCode::ALL {
        let said = code.page();
        let exit = said.kind.exit_code().0;
        page += &format!(
            "\n### {code}: {}\n\nExit code {exit}. {}\n",
            said.title, said.text
        );
    }
    page
}

/// Returns the anchor that Markdown renderers give a heading.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter))
        .collect()
}

fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_every_field_has_its_line() {
        let page = events();
        for fact in Fact::PAGES {
            assert!(
                page.contains(&format!("\n## `{}`\n", fact.kind)),
                "{}",
                fact.kind
            );
            for field in fact.fields {
                assert!(
                    page.contains(&format!("| `{}` |", field.name)),
                    "{}",
                    field.name
                );
            }
        }
    }

    #[test]
    fn every_code_and_every_exit_code_has_its_line() {
        let page = errors();
        for code in FailureCode::ALL {
            assert!(
                page.contains(&format!("\n### {code}: {}\n", code.page().title)),
                "{code}"
            );
        }
        for kind in FailureKind::ALL {
            assert!(
                page.contains(&format!("\n| {} | ", kind.exit_code().0)),
                "{kind:?}"
            );
        }
    }
}
