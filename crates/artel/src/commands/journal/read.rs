//! Commands that read the journal. They open it read-only, and also work on a damaged
//! journal.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use artel_journal::{self as journal, JournalRecord, JournalSubscription};
use artel_types::Failure;
use artel_workshop::{CommandContext, Workshop, WorkshopFailures};

use super::filter::{EventFilterArgs, count};
use crate::CliCommandOutcome;
use crate::render::{EVENT_HEAD, bytes, cell, counted, event_row, harmless, table};
use crate::screen::{CliOutput, stopped};

/// Show the last events
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel journal tail -n 50 --follow")]
pub(super) struct JournalTailArgs {
    /// Number of events
    #[arg(short = 'n', long, default_value_t = 20, value_name = "COUNT")]
    #[arg(value_parser = count, allow_negative_numbers = true)]
    lines: u64,
    /// All events after this sequence number instead, each once and in order
    #[arg(long, value_name = "SEQ", conflicts_with = "lines")]
    after: Option<u64>,
    /// Keep showing events as they arrive, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    filter: EventFilterArgs,
}

/// Find events
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel journal query --kind plan. --since 24h --format csv")]
pub(super) struct JournalQueryArgs {
    /// How to print them; --json is short for --format json
    #[arg(long, value_enum, default_value_t = JournalQueryFormat::Table)]
    format: JournalQueryFormat,
    /// Show at most this many
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    limit: Option<u64>,
    /// Only events after this sequence number
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
    /// Show the newest events first
    #[arg(long)]
    newest_first: bool,
    #[command(flatten)]
    filter: EventFilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum JournalQueryFormat {
    Table,
    Json,
    Csv,
}

/// Write events as JSON lines, one event per line
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel journal export --since 7d --output week.jsonl")]
pub(super) struct JournalExportArgs {
    /// The file to write; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    filter: EventFilterArgs,
}

/// Reports missing events before the remaining ones are shown.
pub(in crate::commands) fn warn(workshop: &Workshop, screen: &mut CliOutput) {
    if let Some(missing) = workshop.missing_end() {
        let advice = missing.advice.map(|it| format!("; {it}"));
        screen.notes(&[format!("{}{}", missing.what, advice.unwrap_or_default())]);
    }
}

/// Count the contents of the journal
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel journal stats --json")]
pub(super) struct JournalStatsArgs {}

pub(super) fn tail(
    args: &JournalTailArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    warn(&workshop, screen);
    let filter = args.filter.filter(caller.clock())?;
    let reader = workshop.reader_as_it_is()?;
    let head = reader.head().map_err(Failure::from)?;
    let query = journal::EventQuery::of(filter.clone());
    let query = match args.after {
        Some(seq) => query.after(seq),
        None => query.newest_first().limit(args.lines),
    };
    let mut records = reader.records(&query).map_err(Failure::from)?;
    records.sort_by_key(|record| record.seq);
    show(&records, screen)?;
    if args.follow {
        let after = records.last().map_or(head, |record| record.seq.max(head));
        let following = JournalSubscription::read_only(reader, filter, after);
        return follow(following, screen);
    }
    Ok(CliCommandOutcome::Done)
}

/// Shows events as they arrive. Ctrl-C ends the process, which loses nothing.
fn follow(
    mut following: JournalSubscription,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    loop {
        screen.flush()?;
        if let Some(record) = following
            .wait(Duration::from_secs(1))
            .map_err(Failure::from)?
        {
            if screen.json {
                screen.value(&record)?;
            } else {
                screen.line(event_row(&record).join("  "))?;
            }
        }
    }
}

fn show(records: &[JournalRecord], screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    if screen.json {
        return records.iter().try_for_each(|record| screen.value(record));
    }
    let rows: Vec<Vec<String>> = records.iter().map(event_row).collect();
    screen.raw(&table(&EVENT_HEAD, &rows))
}

pub(super) fn query(
    args: &JournalQueryArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    warn(&workshop, screen);
    let mut query = journal::EventQuery::of(args.filter.filter(caller.clock())?);
    query.limit = args.limit;
    query.after = args.after;
    if args.newest_first {
        query = query.newest_first();
    }
    let format = if screen.json {
        JournalQueryFormat::Json
    } else {
        args.format
    };
    match format {
        JournalQueryFormat::Json => json(&workshop, &query, screen)?,
        JournalQueryFormat::Csv => csv(&workshop, &query, screen)?,
        JournalQueryFormat::Table => show_page(&workshop, query, screen)?,
    }
    Ok(CliCommandOutcome::Done)
}

/// Maximum number of rows in a table. A table is laid out as a whole, so it needs a limit;
/// nobody reads more than this.
const LONGEST_TABLE: u64 = 1_000;

fn show_page(
    workshop: &Workshop,
    mut query: journal::EventQuery,
    screen: &mut CliOutput,
) -> Result<(), WorkshopFailures> {
    let is_cut = query.limit.is_none();
    query.limit.get_or_insert(LONGEST_TABLE);
    let records = workshop
        .reader_as_it_is()?
        .records(&query)
        .map_err(Failure::from)?;
    show(&records, screen)?;
    if is_cut && records.len() as u64 == LONGEST_TABLE {
        screen.say(format!(
            "the first {LONGEST_TABLE} are shown; `--limit`, `--json` or `--format csv` give more"
        ));
    }
    Ok(())
}

/// Writes one JSON array, one event at a time, however many there are.
fn json(
    workshop: &Workshop,
    query: &journal::EventQuery,
    screen: &mut CliOutput,
) -> Result<(), WorkshopFailures> {
    screen.raw("[")?;
    let mut separator = "";
    each(workshop, query, |record| {
        screen.raw(separator)?;
        separator = ",";
        screen.value(&record)
    })?;
    screen.line("]")
}

fn csv(
    workshop: &Workshop,
    query: &journal::EventQuery,
    screen: &mut CliOutput,
) -> Result<(), WorkshopFailures> {
    let mut writer = csv::Writer::from_writer(screen.writer());
    let failed = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(cause) => stopped(cause),
        other => stopped(std::io::Error::other(format!("{other:?}"))),
    };
    writer
        .write_record([
            "seq",
            "stream",
            "stream_seq",
            "at",
            "trace",
            "session",
            "run",
            "cause",
            "actor",
            "via",
            "kind",
            "target",
            "outcome",
            "visibility",
            "schema",
            "payload",
        ])
        .map_err(failed)?;
    each(workshop, query, |record| {
        let text = |text: Option<String>| text.unwrap_or_default();
        writer
            .write_record([
                record.seq.to_string(),
                record.stream,
                record.stream_seq.to_string(),
                record.at.to_string(),
                record.trace,
                text(record.session),
                text(record.run),
                text(record.cause.map(|cause| cause.to_string())),
                record.actor,
                text(record.via),
                record.kind,
                text(record.target),
                text(record.outcome),
                record.visibility,
                record.schema.to_string(),
                record.payload,
            ])
            .map_err(failed)
    })?;
    writer.flush().map_err(stopped)
}

/// Passes on each event until one cannot be printed.
fn each(
    workshop: &Workshop,
    query: &journal::EventQuery,
    mut print: impl FnMut(JournalRecord) -> Result<(), WorkshopFailures>,
) -> Result<(), WorkshopFailures> {
    let mut stopped = None;
    workshop
        .reader_as_it_is()?
        .visit(query, |record| match print(record) {
            Ok(()) => ControlFlow::Continue(()),
            Err(problems) => {
                stopped = Some(problems);
                ControlFlow::Break(())
            }
        })
        .map_err(Failure::from)?;
    stopped.map_or(Ok(()), Err)
}

pub(super) fn export(
    args: &JournalExportArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    warn(&workshop, screen);
    let query = journal::EventQuery::of(args.filter.filter(caller.clock())?);
    let Some(path) = &args.output else {
        each(&workshop, &query, |record| screen.value(&record))?;
        return Ok(CliCommandOutcome::Done);
    };
    workshop.refuse_state_file(path)?;
    let failed = |error: std::io::Error| {
        Failure::new(
            artel_types::FailureCode::C008,
            format!("could not write `{}`", path.display()),
        )
        .because(error.to_string())
        .advise("look at the folder, its mode and the room on its disk")
    };
    let file = std::fs::File::create(path).map_err(failed)?;
    let mut writer = std::io::BufWriter::new(file);
    let mut events = 0_u64;
    each(&workshop, &query, |record| {
        events += 1;
        let line = serde_json::to_string(&record).unwrap_or_default();
        writeln!(writer, "{line}").map_err(|error| failed(error).into())
    })?;
    writer.flush().map_err(failed)?;
    if screen.json {
        screen
            .value(&serde_json::json!({ "file": path.display().to_string(), "events": events }))?;
    } else {
        let place = harmless(&path.display().to_string());
        screen.line(format!("wrote {} to {place}", counted(events, "event")))?;
    }
    Ok(CliCommandOutcome::Done)
}

pub(super) fn stats(
    _args: &JournalStatsArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    warn(&workshop, screen);
    let count = workshop.stats()?;
    if screen.json {
        screen.value(&count)?;
        return Ok(CliCommandOutcome::Done);
    }
    let stats = &count.stats;
    screen.line(format!(
        "{}, {}",
        counted(stats.events, "event"),
        bytes(count.journal_bytes)
    ))?;
    if let (Some(first), Some(last)) = (stats.first, stats.last) {
        screen.line(format!("from {first} to {last}"))?;
    }
    screen.line(format!(
        "{}, {} · {}\n",
        counted(count.blobs, "blob"),
        bytes(count.blob_bytes),
        counted(count.backups, "backup")
    ))?;
    let rows = |counts: &std::collections::BTreeMap<String, u64>| -> Vec<Vec<String>> {
        counts
            .iter()
            .map(|(name, count)| vec![cell(name, 80), count.to_string()])
            .collect()
    };
    screen.raw(&table(&["KIND", "EVENTS"], &rows(&stats.kinds)))?;
    screen.raw("\n")?;
    screen.raw(&table(&["ACTOR", "EVENTS"], &rows(&stats.actors)))?;
    Ok(CliCommandOutcome::Done)
}
