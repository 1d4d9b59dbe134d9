//! The page of settings: models, policies and grants, portals, tokens, visibility and the
//! daemon.

use std::sync::Arc;

use artel_policy::GrantEntry;
use artel_types::Failure;
use artel_types::model::Provider;
use artel_workshop::{
    ModelRow, Portal, PortalOperation, RoleVisibility, TokenRow, ViewerRole, WorkshopFailures,
};
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::frame::{PageContext, PageFrame, show, trouble};
use super::policies::PoliciesPanel;
use super::words::{self, TimeLabel};
use super::wrong::ProblemsPanel;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

#[derive(Template)]
#[template(path = "settings.html")]
pub(super) struct SettingsPage {
    pub(super) frame: PageFrame,
    pub(super) is_admin: bool,
    pub(super) wrong: ProblemsPanel,
    pub(super) models: Vec<SettingsPageModel>,
    pub(super) policies: PoliciesPanel,
    pub(super) grants: Vec<GrantEntry>,
    pub(super) portals: Vec<SettingsPagePortal>,
    /// The operations that agents can be allowed in a portal.
    pub(super) operations: Vec<&'static str>,
    /// `None` if the viewer may not see tokens.
    pub(super) tokens: Option<Vec<SettingsPageToken>>,
    pub(super) rules: Vec<SettingsPageVisibility>,
    pub(super) hidden: Vec<String>,
    pub(super) is_held: bool,
    pub(super) rows: Vec<SettingsPageRow>,
}

#[derive(Debug, Clone)]
pub(super) struct SettingsPageModel {
    pub(super) alias: String,
    pub(super) model: String,
    pub(super) how: String,
    pub(super) context: String,
    pub(super) price: String,
}

#[derive(Debug, Clone)]
pub(super) struct SettingsPagePortal {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) may: String,
    pub(super) agents: String,
    pub(super) privacy: &'static str,
}

#[derive(Debug, Clone)]
pub(super) struct SettingsPageToken {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) role: String,
    /// Whether plans and changesets can be approved with it, in words.
    pub(super) approves: &'static str,
    pub(super) by: String,
    pub(super) at: TimeLabel,
}

/// The visibility rule of one role.
#[derive(Debug, Clone)]
pub(super) struct SettingsPageVisibility {
    pub(super) role: &'static str,
    /// A description of what the role sees in addition to runs.
    pub(super) about: &'static str,
    /// The view of runs that the role has.
    pub(super) sees: &'static str,
    pub(super) origin: String,
}

#[derive(Debug, Clone)]
pub(super) struct SettingsPageRow {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) origin: String,
    pub(super) about: &'static str,
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
) -> Response {
    let models = match models(&desk, &who).await {
        Ok(models) => models,
        Err(failure) => return trouble(&who, failure),
    };
    show(desk, who, move |site| gather(site, models)).await
}

async fn models(desk: &ServerState, who: &AuthenticatedCaller) -> Result<Vec<ModelRow>, Failure> {
    who.needs(ViewerRole::Developer)?;
    Ok(who.workshop(desk)?.models(None).await?.list())
}

fn gather(site: &PageContext, models: Vec<ModelRow>) -> Result<SettingsPage, WorkshopFailures> {
    let workshop = &site.workshop;
    let settings = &workshop.settings;
    let seen = workshop.who_sees();
    let tokens = if site.is_admin() {
        Some(workshop.tokens()?.into_iter().map(token).collect())
    } else {
        None
    };
    let rows = if site.is_admin() {
        settings.rows()
    } else {
        Vec::new()
    };
    let redactor = workshop.caller().redactor();
    let rows = rows.into_iter().map(|row| SettingsPageRow {
        key: row.key,
        value: redactor.redact(&row.value).into_owned(),
        origin: row.origin,
        about: row.about,
    });
    Ok(SettingsPage {
        frame: site.frame("settings", "Settings"),
        is_admin: site.is_admin(),
        wrong: ProblemsPanel::of(site)?,
        models: models.into_iter().map(model).collect(),
        policies: PoliciesPanel::of(site)?,
        grants: if site.is_admin() {
            workshop.grants()?
        } else {
            Vec::new()
        },
        portals: workshop.portals()?.iter().map(portal).collect(),
        operations: PortalOperation::ALL.map(PortalOperation::as_str).to_vec(),
        tokens,
        rules: seen.roles.into_iter().map(rule).collect(),
        hidden: seen.hidden_tools,
        is_held: workshop.is_daemon_held()?,
        rows: rows.collect(),
    })
}

fn model(row: ModelRow) -> SettingsPageModel {
    let card = row.card;
    let context = card.as_ref().and_then(|card| card.context);
    let price = card.and_then(|card| card.usd_per_million);
    let is_rehearsal = row.provider == Some(Provider::Rehearsal);
    let provider = row.provider.map(|provider| provider.to_string());
    let named = provider.zip(row.model);
    SettingsPageModel {
        alias: row.alias,
        model: named.map_or(String::new(), |(provider, model)| {
            format!("{provider}:{model}")
        }),
        how: row.how,
        context: context.map_or(String::new(), words::tokens),
        price: match price {
            Some(price) => format!("${:.2} / ${:.2}", price.input, price.output),
            None if is_rehearsal => "free".to_owned(),
            None => "price not known".to_owned(),
        },
    }
}

fn rule(it: RoleVisibility) -> SettingsPageVisibility {
    SettingsPageVisibility {
        about: match it.role {
            "user" => "requests, plans, what came of each step, changesets, reports",
            "developer" => "also skills, usage, the journal, settings",
            _ => "also what is kept for audit, tokens and grants",
        },
        role: it.role,
        sees: it.sees,
        origin: it.origin,
    }
}

fn portal(it: &Portal) -> SettingsPagePortal {
    let may: Vec<&str> = it.operations.iter().map(|may| may.as_str()).collect();
    SettingsPagePortal {
        name: it.name.clone(),
        path: it.path.display().to_string(),
        may: may.join(", "),
        agents: it.agents.join(", "),
        privacy: it.privacy_word(),
    }
}

fn token(row: TokenRow) -> SettingsPageToken {
    SettingsPageToken {
        at: words::when(row.created),
        id: row.id,
        name: row.name,
        role: row.role,
        approves: if row.program {
            "no, a program holds it"
        } else {
            "yes, a person holds it"
        },
        by: row.by,
    }
}
