//! How well the words of a request choose among skills, measured over labelled requests.

use std::path::Path;

use artel_skills::choose::{SkillChoice, best};
use artel_skills::{Skill, SkillOrigin, SkillSizeEnforcement, SkillSourceFolder, discover};

/// Requests as people type them, with the skill that each is for; none where no skill is.
const LABELLED: &[(&str, Option<&str>)] = &[
    ("merge report-a.pdf and report-b.pdf", Some("pdf")),
    (
        "rotate the scanned pages of this pdf by 90 degrees",
        Some("pdf"),
    ),
    ("get the tables out of invoice.pdf", Some("pdf")),
    ("please fill the tax form, it is a PDF", Some("pdf")),
    ("split the PDF after page ten", Some("pdf")),
    ("mend the broken cells in budget.xlsx", Some("xlsx")),
    (
        "build a workbook with formulas for our cash flow",
        Some("xlsx"),
    ),
    (
        "the spreadsheet shows #REF! errors, change it",
        Some("xlsx"),
    ),
    ("turn this letter into a Word document", Some("docx")),
    ("review contract.docx and leave comments", Some("docx")),
    ("edit the memo with tracked changes in Word", Some("docx")),
    (
        "write an MCP server for the weather service",
        Some("mcp-builder"),
    ),
    (
        "build tools for a model with FastMCP in Python",
        Some("mcp-builder"),
    ),
    ("what is in customers.csv?", Some("csv-report")),
    (
        "report the gaps and outliers of this CSV file",
        Some("csv-report"),
    ),
    (
        "make a short report of prices.tsv with totals",
        Some("csv-report"),
    ),
    (
        "click through the page in a browser and take screenshots",
        Some("webapp-testing"),
    ),
    (
        "the page is broken, look at the console logs with Playwright",
        Some("webapp-testing"),
    ),
    (
        "test the login form of the web application on this machine",
        Some("webapp-testing"),
    ),
    (
        "write release notes from the commits since the last tag",
        Some("changelog"),
    ),
    (
        "what is new in this release for customers?",
        Some("changelog"),
    ),
    (
        "lead us through the review of last night's outage",
        Some("incident-review"),
    ),
    (
        "an incident without blame: review the security event",
        Some("incident-review"),
    ),
    ("document the endpoints of our HTTP API", Some("api-docs")),
    (
        "write reference documentation from the OpenAPI file",
        Some("api-docs"),
    ),
    (
        "which colors and type does our brand have for slides?",
        Some("brand-guidelines"),
    ),
    (
        "make the page look like our company brand",
        Some("brand-guidelines"),
    ),
    (
        "test the hypothesis that sales fell in May and draw charts",
        Some("Data Analysis"),
    ),
    (
        "explore this data set: is the difference real?",
        Some("Data Analysis"),
    ),
    (
        "teach the agent a new way of working",
        Some("skill-creator"),
    ),
    (
        "improve the skill that exists in this folder, writing it anew",
        Some("skill-creator"),
    ),
    ("what is the weather like tomorrow?", None),
    ("who won the match yesterday?", None),
    ("rename the variable total to sum in main.rs", None),
    ("why does cargo build fail?", None),
    ("add a retry to the download function", None),
    ("translate this poem into French", None),
    ("hello, are you there?", None),
    ("delete the temporary folder", None),
    ("write a commit message for the staged changes", None),
];

fn skills() -> Vec<Skill> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/skills");
    let source = SkillSourceFolder {
        folder,
        scope: SkillOrigin::User,
    };
    discover(&[source], SkillSizeEnforcement::Enforce).skills
}

/// Precision: of the requests for which one skill was chosen, those where it was the right one.
/// Recall: of the requests that a skill is for, those where it was chosen; with what is offered to
/// the model counted too, those where it can still be chosen.
#[test]
fn words_alone_choose_rightly_and_leave_the_rest_open() {
    let skills = skills();
    let (mut chosen, mut right, mut open, mut wanted) = (0, 0, 0, 0);
    let mut misses = Vec::new();
    for (request, label) in LABELLED {
        let choice = best(request, &skills);
        wanted += i32::from(label.is_some());
        match &choice {
            SkillChoice::One(name) => {
                chosen += 1;
                right += i32::from(Some(name.as_str()) == *label);
            }
            SkillChoice::Unsure(names) => {
                open += i32::from(label.is_some_and(|label| names.iter().any(|it| it == label)));
            }
            SkillChoice::None => {}
        }
        if !matches!(&choice, SkillChoice::One(name) if Some(name.as_str()) == *label) {
            misses.push((request, label, choice));
        }
    }
    let share = |part: i32, whole: i32| f64::from(part) / f64::from(whole);
    let (precision, recall) = (share(right, chosen), share(right, wanted));
    let reachable = share(right + open, wanted);
    let report = format!(
        "{} requests: precision {precision:.2}, recall {recall:.2}, reachable {reachable:.2}\n\
         {misses:#?}",
        LABELLED.len()
    );
    println!("{report}");
    assert!(LABELLED.len() >= 30);
    assert!(precision >= 0.95, "{report}");
    assert!(recall >= 0.9, "{report}");
    assert!(reachable >= 0.95, "{report}");
    let none = LABELLED.iter().filter(|(_, label)| label.is_none());
    for (request, _) in none {
        let choice = best(request, &skills);
        assert!(
            !matches!(choice, SkillChoice::One(_)),
            "{request}: {choice:?}"
        );
    }
    assert!(
        skills.iter().any(|skill| skill.name == "Data Analysis"),
        "labels name real skills"
    );
}
