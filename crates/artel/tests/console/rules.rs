//! What a page tells is a matter of the rules, not of the role's name.

use crate::stage::Stage;
use crate::town::Town;
use crate::wire::{get, post};

#[test]
fn what_checks_wrote_is_for_whoever_may_see_everything() {
    let town = Town::new();
    let id = town.asked();
    town.artel(["plan", "approve", &id, "--json"])
        .run()
        .expect(0);
    let stage = Stage::of(town);
    let tokens = ["user", "developer", "admin"].map(|role| stage.token(role));
    let [user, developer, admin] = &tokens;
    let seen = |token: &str| {
        let page = get(&stage.listen, token, &format!("/runs/{id}")).text;
        assert!(page.contains("class=\"finding\""), "{page}");
        page.contains("<summary>output</summary>")
    };
    assert_eq!((seen(user), seen(developer)), (false, true));
    let rules = r#"{"user":"full","developer":"summary"}"#;
    let changed = post(&stage.listen, admin, "/api/v1/visibility", rules);
    assert_eq!(changed.status, Some(200), "{changed:?}");
    assert_eq!((seen(user), seen(developer)), (true, false));
}
