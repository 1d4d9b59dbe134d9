//! Turns one TOML file into the settings it names, each with its line.
//!
//! The walk goes no deeper than the schema, so the shape of a hostile file does not matter
//! here.

use std::ops::Range;
use std::path::Path;

use artel_types::{Failure, FailureCode};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::hooks::{self, HookEntry, HookSectionSource};
use crate::layers::SettingLayerEntry;
use crate::nearest::nearest_key;
use crate::schema::{self, dotted};
use crate::value::RawSettingValue;
use crate::{SettingOrigin, names, problem};

/// Stack of the parsing thread, in bytes. The parser limits nesting, but counts dotted keys
/// and brackets separately: together they reach more than six thousand levels, and dropping
/// those takes up to 4 MiB of stack, depending on how the parser was optimised. An ordinary
/// thread has 2 MiB.
const STACK: usize = 16 * 1024 * 1024;

/// One setting from one file, or the problem there.
type Said = Result<SettingLayerEntry, Failure>;

/// The content of one settings file.
#[derive(Debug, Default)]
pub(crate) struct ParsedSettingsFile {
    /// Its settings and its problems, in line order.
    pub(crate) said: Vec<Said>,
    /// Its hooks, in line order.
    pub(crate) hooks: Vec<HookEntry>,
}

/// Reads the text of a settings file. `origin` returns the origin for a line number.
pub(crate) fn read(
    text: &str,
    path: &Path,
    origin: impl Fn(usize) -> SettingOrigin + Send,
) -> ParsedSettingsFile {
    let parsed = std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK);
        let reader = reader.spawn_scoped(scope, || read_here(text, path, origin));
        reader.map(|reader| reader.join())
    });
    match parsed {
        Ok(Ok(read)) => read,
        Ok(Err(_)) => {
            let what = format!("reading `{}` went wrong", problem::shown_path(path));
            ParsedSettingsFile::wrong(Failure::new(FailureCode::X001, what))
        }
        Err(cause) => ParsedSettingsFile::wrong(problem::unreadable(path, &cause.to_string())),
    }
}

impl ParsedSettingsFile {
    fn wrong(failure: Failure) -> Self {
        Self {
            said: vec![Err(failure)],
            hooks: Vec::new(),
        }
    }
}

fn read_here(
    text: &str,
    path: &Path,
    origin: impl Fn(usize) -> SettingOrigin,
) -> ParsedSettingsFile {
    let lines = SettingsFileLines::of(text);
    match DeTable::parse(text) {
        Ok(table) => {
            let mut walk = SettingsFileReader {
                text,
                lines,
                origin,
                said: Vec::new(),
                hooks: Vec::new(),
            };
            walk.table(&mut Vec::new(), table.get_ref());
            walk.finish()
        }
        Err(cause) => {
            // Only the first error is reported: those after a syntax error mostly follow from
            // it.
            let at = cause.span().map_or(0, |span| span.start);
            ParsedSettingsFile::wrong(problem::not_toml(
                path,
                lines.position(text, at),
                cause.message(),
            ))
        }
    }
}

/// Start of each line. Looking up a line takes a search, not a count from the top.
struct SettingsFileLines(Vec<usize>);

impl SettingsFileLines {
    fn of(text: &str) -> Self {
        Self(
            std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
        )
    }

    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at).max(1)
    }

    /// Returns line and column, both from 1. Columns count characters.
    fn position(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.line(at);
        let start = self.0.get(line - 1).copied().unwrap_or(0);
        let before = text
            .get(start..at)
            .map_or(0, |before| before.chars().count());
        (line, before + 1)
    }
}

struct SettingsFileReader<'t, O> {
    text: &'t str,
    lines: SettingsFileLines,
    origin: O,
    /// With the line number, because tables come in order of name, but people read in order of
    /// line.
    said: Vec<(usize, Said)>,
    hooks: Vec<(usize, HookEntry)>,
}

impl<O: Fn(usize) -> SettingOrigin> SettingsFileReader<'_, O> {
    fn table(&mut self, path: &mut Vec<String>, table: &DeTable<'_>) {
        for (key, value) in table {
            if path.is_empty() && key.get_ref() == "hooks" {
                self.hooks(value);
                continue;
            }
            path.push(key.get_ref().to_string());
            self.item(path, key.span().start, value);
            path.pop();
        }
    }

    fn item(&mut self, path: &mut Vec<String>, at: usize, value: &Spanned<DeValue<'_>>) {
        let line = self.lines.line(at);
        let origin = (self.origin)(line);
        if let Err(failure) = names::check(path, &origin) {
            self.said.push((line, Err(failure)));
            return;
        }
        let said = match (schema::find(path), value.get_ref()) {
            (Some(field), given) => Ok(SettingLayerEntry {
                field,
                path: path.clone(),
                given: self::given(given),
                echo: problem::shown(&field.kind.echo(self.source(value.span()))),
                origin,
            }),
            (None, _) if !schema::is_section(path) => {
                let meant = nearest_key(path);
                Err(problem::unknown(&dotted(path), &origin, meant.as_deref()))
            }
            (None, DeValue::Table(table)) if !table.is_empty() => return self.table(path, table),
            (None, DeValue::Table(_)) if schema::own_part(path).is_none() => return,
            (None, DeValue::Table(_)) => Err(problem::empty_section(&dotted(path), &origin)),
            (None, _) => Err(problem::not_a_section(path, &origin)),
        };
        self.said.push((line, said));
    }

    /// Reads the hooks. They are a list of tables, which the schema of settings cannot
    /// describe.
    fn hooks(&mut self, section: &Spanned<DeValue<'_>>) {
        let read = hooks::read(
            section,
            &HookSectionSource {
                origin: &|at| (self.origin)(self.lines.line(at)),
                source: &|span| self.source(span).to_owned(),
            },
        );
        for (at, read) in read {
            let line = self.lines.line(at);
            match read {
                Ok(hook) => self.hooks.push((at, hook)),
                Err(failure) => self.said.push((line, Err(failure))),
            }
        }
    }

    fn source(&self, span: Range<usize>) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    fn finish(mut self) -> ParsedSettingsFile {
        self.said.sort_by_key(|(line, _)| *line);
        self.hooks.sort_by_key(|(at, _)| *at);
        ParsedSettingsFile {
            said: self.said.into_iter().map(|(_, said)| said).collect(),
            hooks: self.hooks.into_iter().map(|(_, hook)| hook).collect(),
        }
    }
}

/// Returns a value as the file has it, before it is checked.
pub(crate) fn given(value: &DeValue<'_>) -> RawSettingValue {
    match value {
        DeValue::String(text) => RawSettingValue::Text(text.to_string()),
        DeValue::Integer(number) => RawSettingValue::Whole(whole(number)),
        DeValue::Float(number) => RawSettingValue::Point(number.as_str().to_owned()),
        DeValue::Boolean(flag) => RawSettingValue::Flag(*flag),
        DeValue::Datetime(_) => RawSettingValue::Other("a date or time"),
        DeValue::Array(items) => {
            let texts: Option<Vec<_>> = items.iter().map(text_of).collect();
            texts.map_or(
                RawSettingValue::Other("a list of other things than text"),
                RawSettingValue::List,
            )
        }
        DeValue::Table(_) => RawSettingValue::Other("a table"),
    }
}

fn text_of(item: &toml::Spanned<DeValue<'_>>) -> Option<String> {
    match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// Reads a whole number. If it is too long for any type, it becomes the smallest or largest
/// one, which is out of every range as well.
fn whole(number: &DeInteger<'_>) -> i128 {
    let text = number.as_str();
    let farthest = if text.starts_with('-') {
        i128::MIN
    } else {
        i128::MAX
    };
    i128::from_str_radix(text, number.radix()).unwrap_or(farthest)
}
