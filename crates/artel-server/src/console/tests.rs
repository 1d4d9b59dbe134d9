//! Whatever models, tools, files and people write into a page is text in it: nothing of it becomes
//! markup, leaves its attribute, or changes how other text is seen.

mod forms;
mod pages;

use askama::Template;

use super::frame::render;

/// What somebody would write who wants more than to be read.
const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=y> \"quoted' onx=1 {{7*7}} \u{202e}\u{1b}[31m\u{200b}";

fn hostile() -> String {
    HOSTILE.to_owned()
}

/// Renders a page with hostile text in `count` places at least, and looks for what got through.
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

/// Looks at what every page has: one heading at the top, a way past the menu, no style or script
/// in it, and nothing that is labelled twice.
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
