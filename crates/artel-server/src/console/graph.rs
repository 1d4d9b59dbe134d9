//! Draws the steps of a plan: one column per layer, one line per dependency.

use std::collections::BTreeMap;

use artel_rules::plan::StepGraph as Layers;
use artel_types::plan::Plan;
use askama::Template;
use askama::filters::HtmlSafe;

use super::words;

const WIDTH: usize = 200;
const HEIGHT: usize = 50;
const ACROSS: usize = 52;
const BETWEEN: usize = 14;
const EDGE: usize = 8;

/// Maximum number of characters in a line of a box.
const FITS: usize = 21;

/// The drawing of a plan. Coordinates are in units of its view box.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "graph.html")]
pub(super) struct PlanGraphDrawing {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) boxes: Vec<PlanGraphBox>,
    pub(super) lines: Vec<PlanGraphEdge>,
    /// The drawing described in words.
    pub(super) words: String,
}

/// The box of a step.
#[derive(Debug, Clone)]
pub(super) struct PlanGraphBox {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) text_x: usize,
    pub(super) first_y: usize,
    pub(super) second_y: usize,
    pub(super) first: String,
    pub(super) second: String,
    pub(super) class: &'static str,
    pub(super) title: String,
}

/// The line of a dependency.
#[derive(Debug, Clone)]
pub(super) struct PlanGraphEdge {
    pub(super) path: String,
}

// The template escapes its values itself.
impl HtmlSafe for PlanGraphDrawing {}

/// Draws a plan. `states` has the state of each step, if the plan is being carried out.
/// Returns `None` if the layers cannot be determined; the list of steps says the same.
pub(super) fn draw(
    plan: &Plan,
    states: &BTreeMap<String, words::StateLabel>,
) -> Option<PlanGraphDrawing> {
    let layers = Layers::of(plan).ok()?;
    let layers = layers.layers();
    let tallest = layers.iter().map(Vec::len).max().filter(|&most| most > 0)?;
    let mut places: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (column, layer) in layers.iter().enumerate() {
        // Short columns are centred vertically, which keeps the lines short.
        let above = (tallest - layer.len()) * (HEIGHT + BETWEEN) / 2;
        for (row, id) in layer.iter().enumerate() {
            let x = EDGE + column * (WIDTH + ACROSS);
            let y = EDGE + above + row * (HEIGHT + BETWEEN);
            places.insert(id, (x, y));
        }
    }
    let shape = |(id, place): (&&str, &(usize, usize))| shape(plan, id, *place, states);
    let boxes = places.iter().filter_map(shape).collect();
    let mut lines = Vec::new();
    for step in &plan.steps {
        for before in &step.after {
            let ends = places
                .get(before.as_str())
                .zip(places.get(step.id.as_str()));
            lines.extend(ends.map(|(from, to)| link(*from, *to)));
        }
    }
    Some(PlanGraphDrawing {
        width: 2 * EDGE + layers.len() * WIDTH + (layers.len() - 1) * ACROSS,
        height: 2 * EDGE + tallest * HEIGHT + (tallest - 1) * BETWEEN,
        boxes,
        lines,
        words: in_words(plan, &layers),
    })
}

fn shape(
    plan: &Plan,
    id: &str,
    (x, y): (usize, usize),
    states: &BTreeMap<String, words::StateLabel>,
) -> Option<PlanGraphBox> {
    let step = plan.step(id)?;
    let number = plan.number(id)?;
    let state = states.get(id).copied();
    let title = words::short(&step.title, FITS);
    let second = match state {
        Some(state) => format!("{} {} · {}", state.sign, state.word, step.role),
        None => format!("{} · {}", step.role, step.verify),
    };
    Some(PlanGraphBox {
        x,
        y,
        width: WIDTH,
        height: HEIGHT,
        text_x: x + 10,
        first_y: y + 20,
        second_y: y + 38,
        first: format!("{number} {title}"),
        second: words::short(&second, FITS + 6),
        class: state.map_or("plain", |state| state.class),
        title: format!(
            "step {number}: {}{}",
            step.title,
            state.map_or(String::new(), |state| format!(", {}", state.word))
        ),
    })
}

fn link((from_x, from_y): (usize, usize), (to_x, to_y): (usize, usize)) -> PlanGraphEdge {
    let (x1, y1) = (from_x + WIDTH, from_y + HEIGHT / 2);
    let (x2, y2) = (to_x, to_y + HEIGHT / 2);
    let middle = usize::midpoint(x1, x2);
    PlanGraphEdge {
        path: format!("M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}"),
    }
}

fn in_words(plan: &Plan, layers: &[Vec<&str>]) -> String {
    let named = |id: &&str| {
        let number = plan.number(id).unwrap_or_default();
        plan.step(id)
            .map_or(String::new(), |step| format!("{number} {}", step.title))
    };
    let layer = |(at, layer): (usize, &Vec<&str>)| {
        let steps: Vec<String> = layer.iter().map(named).collect();
        format!("layer {}: {}", at + 1, steps.join("; "))
    };
    let all: Vec<String> = layers.iter().enumerate().map(layer).collect();
    all.join(". ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use artel_types::plan::{Plan, StepState};

    use super::{draw, words};

    fn plan(steps: &[(&str, &[&str])]) -> Plan {
        let step = |(id, after): &(&str, &[&str])| serde_json::json!({ "id": id, "title": id, "work": "x", "after": after });
        let steps: Vec<_> = steps.iter().map(step).collect();
        serde_json::from_value(serde_json::json!({ "title": "t", "steps": steps })).unwrap()
    }

    #[test]
    fn a_column_for_each_layer_and_a_line_for_each_dependency() {
        let plan = plan(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])]);
        let states = BTreeMap::from([("a".to_owned(), words::step(StepState::Done))]);
        let graph = draw(&plan, &states).unwrap();
        let mut columns: Vec<usize> = graph.boxes.iter().map(|it| it.x).collect();
        columns.dedup();
        assert_eq!(columns.len(), 3);
        assert_eq!(graph.lines.len(), 4);
        assert_eq!(graph.words, "layer 1: 1 a. layer 2: 2 b; 3 c. layer 3: 4 d");
        assert_eq!(graph.boxes[0].class, "good");
        assert!(graph.boxes[0].second.contains("✓ done"));
        let inside = |it: &super::PlanGraphBox| {
            it.x + it.width <= graph.width && it.y + it.height <= graph.height
        };
        assert!(graph.boxes.iter().all(inside));
    }

    #[test]
    fn a_circle_is_not_drawn() {
        assert!(draw(&plan(&[("a", &["b"]), ("b", &["a"])]), &BTreeMap::new()).is_none());
    }
}
