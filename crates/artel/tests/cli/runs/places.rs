//! Places for processes: agents share most of them, the last are kept for what a person started.

use std::fs;
use std::num::NonZeroUsize;

use artel_sandbox::run::CancelToken;
use artel_sandbox::slots::{CommandConcurrencyPool, CommandInitiator};

use super::world::{Running, World};

const COMMAND: &str = r##"
rules:
  - expect: { says: begin the work }
    call: { bash: { command: echo from an agent } }
  - expect: { says: hold a place }
    call: { bash: { command: "touch began; sleep 600" } }
otherwise:
  call: { finish: { answer: over } }
"##;

/// Has an agent sleep at a place, so many with it.
fn holding(world: &World, count: usize) -> Running {
    let mut sleeper = Running::start(world.artel(["run", "--task", "hold a place"]));
    let trees = world.house.state("worktrees");
    let began = || {
        let trees = fs::read_dir(&trees).into_iter().flatten().flatten();
        trees
            .filter(|it| it.path().join("tree/began").exists())
            .count()
    };
    sleeper.until(|| began() == count);
    sleeper
}

#[test]
fn a_person_starts_a_command_while_agents_hold_all_their_places() {
    let world = World::new(COMMAND);
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let folder = world.house.home.join(".local/state/artel/slots");
    let slots = CommandConcurrencyPool::of_cores(folder, cores).unwrap();
    let cancel = CancelToken::new().unwrap();
    let total = cores.get() * 2;
    let of_agents = total - (total / 5).max(1);
    let take = |_| {
        let never = &mut |_: &_| panic!("a place is free");
        slots
            .acquire(CommandInitiator::Agent, "sleep 600", &cancel, never)
            .unwrap()
    };
    // However many there are, the last two are held by commands of agents.
    let by_agents = of_agents.min(2);
    let held: Vec<_> = (by_agents..of_agents).map(take).collect();
    let sleepers = (1..=by_agents).map(|count| holding(&world, count));
    let sleepers: Vec<_> = sleepers.collect();

    let mut agent = Running::start(world.task([]));
    let waits = agent.says("waits for a free place");
    assert!(waits.contains("echo from an agent"), "{waits}");
    // The agent's command is still waiting when that of the person is over.
    let root = world.project.to_str().unwrap();
    let input = r#"{"command":"echo from a person"}"#;
    world
        .ok(["tool", "run", "bash", input, "--root", root])
        .says("from a person");
    let finished = |world: &World| {
        let events = world.events("tool.finished").into_iter();
        let words = events.map(|it| it["payload"]["observation"].to_string());
        words.collect::<Vec<_>>()
    };
    let before = finished(&world);
    assert!(
        before.iter().all(|it| !it.contains("from an agent")),
        "{before:?}"
    );

    for mut sleeper in sleepers {
        sleeper.interrupt();
        sleeper.says("Ctrl-C again stops at once");
        sleeper.interrupt();
        assert_eq!(sleeper.end().0, 130);
    }
    drop(held);
    let (code, said) = agent.end();
    assert_eq!(code, 0, "{said}");
    let after = finished(&world);
    assert!(
        after.iter().any(|it| it.contains("from an agent")),
        "{after:?}"
    );
}
