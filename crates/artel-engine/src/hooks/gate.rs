//! Shows a question to hooks before a person sees it.

use std::sync::Arc;

use artel_tools::{
    AttributedToolApproval, ToolApprovalAnswer, ToolApprovalQuestion, ToolCallApprover,
};
use serde_json::{Value, json};

use super::answer::HookVerdict;
use super::event::HookEvent;
use super::matcher::names_of;
use super::{RunHooks, input};

/// Asks hooks before the person. Hooks can say no; only the person can say yes.
pub struct HookFirstApprover {
    pub hooks: RunHooks,
    /// The approver to ask next, or `None` if nobody is here.
    pub person: Option<Arc<dyn ToolCallApprover>>,
}

impl ToolCallApprover for HookFirstApprover {
    fn approve(&self, question: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        match self.refused(question) {
            Some(reason) => Some(ToolApprovalAnswer::No { reason }.into()),
            None => self.person.as_ref()?.approve(question),
        }
    }
}

impl HookFirstApprover {
    /// Returns the reason if hooks say no. If that cannot be recorded, it counts as a no,
    /// too.
    fn refused(&self, question: &ToolApprovalQuestion) -> Option<String> {
        let names = names_of(&question.tool);
        let shared = self.hooks.wanted(HookEvent::PermissionRequest, &names)?;
        let given = serde_json::from_str(&question.record.input).unwrap_or(Value::Null);
        let facts = json!({
            "tool_name": names.first(),
            "tool_input": input::outward(&question.tool, &given, &shared.tree()),
        });
        match shared.fire(HookEvent::PermissionRequest, &names, facts) {
            Ok(heard) => match heard.verdict {
                HookVerdict::Deny(why) => Some(format!("a hook: {why}")),
                _ => heard.stop,
            },
            Err(failure) => Some(failure.to_string()),
        }
    }
}
