//! The index of a real journal: folding it again and following it live give the same
//! result, and the commands for people agree with it.

use std::path::Path;
use std::sync::Arc;

use artel_config::ProcessEnvironment;
use artel_journal::{EventBatch, EventQuery};
use artel_types::RunAsked;
use artel_types::plan::Urgency;

use super::facts::*;
use super::*;
use crate::board::{ChildRunFilter, RunIndexQuery, WorkIndexQuery};
use crate::{
    CommandContext, GlobalFlags, OpenWorkshopJournal, RunListScope, Workshop, WorkshopInitMode,
};

fn workshop(home: &Path) -> Workshop {
    let environment = ProcessEnvironment::of([("HOME", home.to_str().unwrap().to_owned())], home);
    let clock = artel_config::system_clock();
    let caller = CommandContext::new(
        environment,
        clock,
        GlobalFlags::default(),
        ActorSurface::Cli,
    )
    .unwrap();
    let root = home.join("Artel");
    caller
        .init(Some(&root), WorkshopInitMode::Complete)
        .unwrap();
    std::fs::write(root.join("artel.toml"), "").unwrap();
    caller.workshop().unwrap()
}

fn drafts(number: u8) -> Vec<EventDraft> {
    let (run, trace) = (run_id(number), trace_id(number));
    let work = |fact: Fact| by_agent(StreamName::work(trace), trace, fact);
    let in_run = |fact: Fact| by_agent(StreamName::run(run), trace, fact).in_run(run);
    let title = format!("Work {number}");
    let mut drafts = vec![
        work(request(&title, Urgency::Normal).into()),
        work(drafted(1, &title).into()),
    ];
    if number.is_multiple_of(2) {
        drafts.extend([
            work(approved(1, run).into()),
            in_run(started(run, &title).into()),
            in_run(prepared("engineer").into()),
            in_run(requested("1", 1).into()),
            in_run(replied("1", 1, Some(5)).into()),
        ]);
    }
    match number % 6 {
        2 => drafts.push(in_run(
            RunAsked {
                question: "q".to_owned(),
                text: "Which?".to_owned(),
                choices: Vec::new(),
                call: None,
                suggested: None,
            }
            .into(),
        )),
        4 => drafts.extend([
            in_run(finished(run, "complete").into()),
            work(changeset(run).into()),
        ]),
        _ => {}
    }
    drafts
}

#[test]
fn followed_live_and_folded_anew_it_is_the_same() {
    let home = tempfile::tempdir().unwrap();
    let workshop = workshop(home.path());
    let mut live = workshop.board().unwrap();
    for number in 1..25 {
        let OpenWorkshopJournal { journal, .. } = workshop.open().unwrap();
        journal
            .append(EventBatch::of(drafts(number)))
            .wait()
            .unwrap();
        let records = journal
            .reader()
            .records(&EventQuery::all().after(live.position()));
        records.unwrap().iter().for_each(|record| live.take(record));
    }
    let (anew, drivers) = (workshop.board().unwrap(), workshop.drivers_now().unwrap());
    let runs = RunIndexQuery {
        kinship: ChildRunFilter::All,
        limit: 100,
        ..RunIndexQuery::default()
    };
    let works = WorkIndexQuery {
        limit: 100,
        ..WorkIndexQuery::default()
    };
    assert_eq!(live.position(), anew.position());
    assert_eq!(live.runs(&runs, &drivers), anew.runs(&runs, &drivers));
    assert_eq!(live.works(&works, &drivers), anew.works(&works, &drivers));
    assert_eq!(live.waiting(&drivers), anew.waiting(&drivers));
    assert_eq!(live.changesets(), anew.changesets());
    assert_eq!(live.meter().spent(), anew.meter().spent());

    let told = live.waiting(&drivers).into_iter();
    let told: Vec<_> = told.map(Arc::unwrap_or_clone).collect();
    assert_eq!(workshop.waiting().unwrap(), told);
    assert_eq!(workshop.changesets().unwrap(), live.changesets());
    assert_eq!(
        workshop.runs(RunListScope::All).unwrap(),
        live.runs(&runs, &drivers).rows
    );
    let listed = live.works(&works, &drivers).rows.into_iter();
    let read = workshop.works().unwrap().into_iter();
    let listed: Vec<_> = listed.map(|row| (row.trace, row.status)).collect();
    let read: Vec<_> = read.map(|it| (it.trace, it.status().as_str())).collect();
    assert_eq!(listed, read);
    assert_eq!(listed.len(), 24);
}

/// A long timeline that a process keeps up to date equals the one read from scratch.
#[test]
fn a_long_story_is_told_the_same_by_who_kept_it_and_who_reads_it_anew() {
    let home = tempfile::tempdir().unwrap();
    let anew = workshop(home.path());
    let OpenWorkshopJournal { journal, .. } = anew.open().unwrap();
    let kept = anew.beside(&journal);
    let (run, trace) = (run_id(1), trace_id(1));
    let in_run = |fact: Fact| by_agent(StreamName::run(run), trace, fact).in_run(run);
    let append = |drafts: Vec<EventDraft>| {
        journal.append(EventBatch::of(drafts)).wait().unwrap();
    };
    append(vec![
        in_run(started(run, "Long").into()),
        in_run(prepared("engineer").into()),
    ]);
    let id = run.to_string();
    let mut left_out = 0;
    for number in 1..=12_u32 {
        let turn = |turn: u32| {
            let id = format!("{number}-{turn}");
            let reply = in_run(replied(&id, turn, Some(5)).into());
            [in_run(requested(&id, turn).into()), reply]
        };
        append((1..=250).flat_map(turn).collect());
        append(vec![in_run(prepared("inspector").into())]);
        let (kept, anew) = (
            kept.run_excerpt(&id).unwrap(),
            anew.run_excerpt(&id).unwrap(),
        );
        assert_eq!(kept.records, anew.records);
        assert_eq!(kept.left_out, anew.left_out);
        assert_eq!(kept.replies, anew.replies);
        assert_eq!(
            kept.records.len() as u64 + kept.left_out,
            2 + u64::from(number) * 501,
            "nothing is forgotten or counted twice"
        );
        left_out = kept.left_out;
    }
    assert!(left_out > 3_000, "{left_out}");
    // By its trace it is the same timeline.
    let by_trace = kept.run_excerpt(&trace.to_string()).unwrap();
    assert_eq!(by_trace.left_out, left_out);
}
