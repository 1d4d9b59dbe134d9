//! Tests that everything models, tools, files and people write stays text in a page: it
//! does not become markup, leave its attribute, or change how other text looks.

mod forms;
mod pages;

use askama::Template;

use super::frame::render;

/// Text as an attacker would write it.
const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=y> \"quoted' onx=1 {{7*7}} \u{202e}\u{1b}[31m\u{200b}";

fn hostile() -> String {
    HOSTILE.to_owned()
}

/// Renders a page that has hostile text in at least `count` places, and checks that none of
/// it took effect.
fn check(page: &impl Template, count: usize) {
    let html = render(page).unwrap();
    for broken in [
        "<script>alert",
        "<img",
        "\"quoted",
        "quoted' onx",
        "\u{202e}",
        "\u{1b}",
        "\u{200b}",
    ] {
        assert!(!html.contains(broken), "{broken:?} in {html}");
    }
    let shown = html.matches("&#60;script&#62;alert(1)").count();
    assert!(shown >= count, "{shown} of {count}: {html}");
    assert!(html.contains("\\u{202e}"), "{html}");
    is_whole(&html);
}

/// Checks what every page needs: one top heading, a link past the menu, no inline style or
/// script, and no duplicate id.
fn is_whole(html: &str) {
    assert_eq!(html.matches("<h1").count(), 1, "{html}");
    assert!(html.contains("href=\"#main\"") && html.contains("<main id=\"main\""));
    assert!(html.contains("<html lang=\"en\">") && html.contains("<noscript>"));
    assert!(!html.contains(" style=") && !html.contains("<style"));
    assert_eq!(html.matches("<script").count(), 1, "only the console's own");
    let mut ids: Vec<&str> = html
        .split(" id=\"")
        .skip(1)
        .map(|rest| &rest[..rest.find('"').unwrap()])
        .collect();
    ids.sort_unstable();
    let twice: Vec<_> = ids.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
