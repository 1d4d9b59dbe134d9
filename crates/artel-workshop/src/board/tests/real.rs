//! The board of a real journal: folded anew and followed live it is the same, and the commands for
//! people say what it says.

use std::path::Path;

use artel_config::Environment;
use artel_journal::{Batch, Query};
use artel_types::RunAsked;
use artel_types::plan::Urgency;

use super::facts::*;
use super::*;
use crate::board::{Kinship, RunsWanted, WorksWanted};
use crate::{Caller, Flags, Init, Open, Which, Workshop};

fn workshop(home: &Path) -> Workshop {
    let environment = Environment::of([("HOME", home.to_str().unwrap().to_owned())], home);
    let clock = artel_config::system_clock();
    let caller = Caller::new(environment, clock, Flags::default(), Via::Cli).unwrap();
    let root = home.join("Artel");
    caller.init(Some(&root), Init::Complete).unwrap();
    std::fs::write(root.join("artel.toml"), "").unwrap();
    caller.workshop().unwrap()
}

fn drafts(number: u8) -> Vec<Draft> {
    let (run, trace) = (run_id(number), trace_id(number));
    let work = |fact: Fact| by_agent(Stream::work(trace), trace, fact);
    let in_run = |fact: Fact| by_agent(Stream::run(run), trace, fact).in_run(run);
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
        let Open { journal, .. } = workshop.open().unwrap();
        journal.append(Batch::of(drafts(number))).wait().unwrap();
        let records = journal
            .reader()
            .records(&Query::all().after(live.position()));
        records.unwrap().iter().for_each(|record| live.take(record));
    }
    let (anew, drivers) = (workshop.board().unwrap(), workshop.drivers_now().unwrap());
    let runs = RunsWanted {
        kinship: Kinship::All,
        limit: 100,
        ..RunsWanted::default()
    };
    let works = WorksWanted {
        limit: 100,
        ..WorksWanted::default()
    };
    assert_eq!(live.position(), anew.position());
    assert_eq!(live.runs(&runs, &drivers), anew.runs(&runs, &drivers));
    assert_eq!(live.works(&works, &drivers), anew.works(&works, &drivers));
    assert_eq!(live.waiting(&drivers), anew.waiting(&drivers));
    assert_eq!(live.changesets(), anew.changesets());
    assert_eq!(live.meter().spent(), anew.meter().spent());

    assert_eq!(workshop.waiting().unwrap(), live.waiting(&drivers));
    assert_eq!(workshop.changesets().unwrap(), live.changesets());
    assert_eq!(
        workshop.runs(Which::All).unwrap(),
        live.runs(&runs, &drivers).rows
    );
    let listed = live.works(&works, &drivers).rows.into_iter();
    let read = workshop.works().unwrap().into_iter();
    let listed: Vec<_> = listed.map(|row| (row.trace, row.status)).collect();
    let read: Vec<_> = read.map(|it| (it.trace, it.status().as_str())).collect();
    assert_eq!(listed, read);
    assert_eq!(listed.len(), 24);
}
