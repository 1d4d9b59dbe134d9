//! The pages about skills: their statistics, their files, and the lessons from their runs.

use std::sync::Arc;

use artel_rules::tally::SkillStats;
use artel_types::Money;
use artel_workshop::{SkillDetail, SkillLesson, SkillList, ViewerRole, WorkshopFailures};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::frame::{PageContext, PageFrame, PagePathParams, PageQueryParams, show};
use super::words;
use crate::api::standing_in;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// A file with more bytes than this is not shown.
const LARGEST: u64 = 256 * 1024;

/// The page that lists all skills.
#[derive(Template)]
#[template(path = "skills.html")]
pub(super) struct SkillsPage {
    pub(super) frame: PageFrame,
    pub(super) rows: Vec<SkillsPageRow>,
    pub(super) broken: Vec<(String, String)>,
}

/// A skill in the list.
#[derive(Debug, Clone)]
pub(super) struct SkillsPageRow {
    pub(super) name: String,
    /// The portal whose project contains it.
    pub(super) portal: Option<String>,
    pub(super) description: String,
    pub(super) scope: String,
    pub(super) is_trusted: bool,
    pub(super) stats: Option<PerformanceFigures>,
}

/// The statistics of a skill or a role, formatted.
#[derive(Debug, Clone)]
pub(super) struct PerformanceFigures {
    pub(super) runs: u64,
    pub(super) success: String,
    pub(super) turns: String,
    pub(super) recovery: String,
    pub(super) common: String,
    pub(super) cost: String,
}

#[derive(Template)]
#[template(path = "skill.html")]
pub(super) struct SkillPage {
    pub(super) frame: PageFrame,
    pub(super) it: SkillDetail,
    pub(super) scope: String,
    pub(super) stats: Option<PerformanceFigures>,
    pub(super) lessons: Vec<SkillLesson>,
    pub(super) files: Vec<SkillPageFile>,
}

/// A file of a skill.
#[derive(Debug, Clone)]
pub(super) struct SkillPageFile {
    pub(super) path: String,
    pub(super) about: String,
    pub(super) size: String,
    pub(super) text: Option<String>,
}

/// Shows the list of skills.
pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
) -> Response {
    show(desk, who, gather).await
}

/// Query parameters: where to look for the skill.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SkillPageQuery {
    /// The portal whose project contains it.
    portal: Option<String>,
}

fn gather(site: &PageContext) -> Result<SkillsPage, WorkshopFailures> {
    site.who.needs(ViewerRole::Developer)?;
    let mut page = SkillsPage {
        frame: site.frame("skills", "Skills"),
        rows: Vec::new(),
        broken: Vec::new(),
    };
    page.add(site, None, site.workshop.caller().skills()?);
    for portal in site.workshop.portals()? {
        let there = site.workshop.standing_in(&portal.path);
        let mut found = there.caller().skills()?;
        // Skills of the workshop and the person are visible from everywhere and already in
        // the list.
        found
            .skills
            .retain(|it| it.folder.starts_with(&portal.path));
        found.broken.retain(|it| it.path.starts_with(&portal.path));
        page.add(site, Some(&portal.name), found);
    }
    Ok(page)
}

impl SkillsPage {
    fn add(&mut self, site: &PageContext, portal: Option<&str>, found: SkillList) {
        let board = site.desk.board();
        let stats = &board.meter().skills;
        self.rows
            .extend(found.skills.into_iter().map(|skill| SkillsPageRow {
                stats: stats.get(&skill.name).map(figures),
                portal: portal.map(str::to_owned),
                scope: word(skill.scope),
                is_trusted: skill.trusted,
                name: skill.name,
                description: skill.description,
            }));
        self.broken.extend(found.broken.iter().map(|it| {
            let why: Vec<String> = it.complaints.iter().map(ToString::to_string).collect();
            (it.path.display().to_string(), why.join("; "))
        }));
    }
}

/// Shows the page of one skill.
pub(super) async fn one(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PagePathParams(name): PagePathParams,
    PageQueryParams(from): PageQueryParams<SkillPageQuery>,
) -> Response {
    let portal = from.portal;
    show(desk, who, move |site| {
        gather_one(site, &name, portal.as_deref())
    })
    .await
}

fn gather_one(
    site: &PageContext,
    name: &str,
    portal: Option<&str>,
) -> Result<SkillPage, WorkshopFailures> {
    site.who.needs(ViewerRole::Developer)?;
    let workshop = standing_in(&site.workshop, portal)?;
    let it = workshop.caller().skill(name)?;
    let files = it.files.iter().map(|file| {
        (
            file.path.clone(),
            file.description.clone().unwrap_or_default(),
            file.bytes,
        )
    });
    let scripts = it.scripts.iter();
    let scripts = scripts.map(|it| (it.path.clone(), "script".to_owned(), it.bytes));
    let head = (
        "SKILL.md".to_owned(),
        "what the agent is told".to_owned(),
        0,
    );
    let all = std::iter::once(head).chain(files).chain(scripts);
    let files = all.map(|(path, about, bytes)| SkillPageFile {
        text: text_of(&it, &path),
        size: match bytes {
            0 => String::new(),
            bytes => words::bytes(bytes),
        },
        path,
        about,
    });
    Ok(SkillPage {
        frame: site.frame("skills", format!("Skill: {}", it.name)),
        stats: site.desk.board().meter().skills.get(name).map(figures),
        lessons: workshop.lessons(name)?,
        files: files.collect(),
        scope: match portal {
            Some(portal) => format!("{} {portal}", word(it.scope)),
            None => word(it.scope),
        },
        it,
    })
}

/// Returns the text of a skill's file, or `None` if it is not UTF-8 text or is too large.
fn text_of(skill: &SkillDetail, path: &str) -> Option<String> {
    let file = std::path::Path::new(&skill.folder).join(path);
    let bytes = artel_files::read_bounded(&file, LARGEST).ok()?;
    String::from_utf8(bytes).ok()
}

/// Formats the statistics of a skill or a role.
pub(super) fn figures(sums: &SkillStats) -> PerformanceFigures {
    PerformanceFigures {
        runs: sums.runs,
        success: words::percent(sums.success_rate()),
        turns: match sums.average_turns() {
            Some(turns) => format!("{turns:.1}"),
            None => "–".to_owned(),
        },
        recovery: words::percent(sums.recovery_rate()),
        common: sums.common_recovery().map_or_else(
            || "–".to_owned(),
            |(kind, share)| format!("{kind} ({})", words::percent(Some(share))),
        ),
        cost: match (sums.unpriced, sums.cost) {
            (0, paid) => words::cost(Some(paid), sums.tokens),
            (_, Money(0)) => words::cost(None, sums.tokens),
            (unpriced, paid) => format!("{paid}, and {unpriced} runs whose price is not known"),
        },
    }
}

/// Returns the word for a scope.
fn word(scope: impl serde::Serialize) -> String {
    let value = serde_json::to_value(scope).ok();
    value
        .as_ref()
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
