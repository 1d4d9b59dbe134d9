//! What the person's rules keep from reading is left out of what git shows: the files are in its
//! history too.

use artel_policy::{PathKeep, PathWall};

use super::arguments::{Call, Shows};
use crate::{Bench, Trouble, TroubleKind};

/// Returns the words of a call, with the paths that it must leave out. One file of a commit cannot be
/// told apart by its path alone, so where rules keep files from reading, it is not shown.
pub(super) fn words(call: &Call, bench: &Bench) -> Result<Vec<String>, Trouble> {
    let stands = |wall: &&PathWall| bench.consent.leaves_up(wall);
    let walls = bench.path_walls.iter().filter(stands);
    let walls = walls.filter(|wall| wall.keeps == PathKeep::Reading);
    let walls: Vec<&PathWall> = walls.collect();
    match (call.shows, walls.first()) {
        (Shows::Changes, Some(_)) => Ok(without(&call.words, &walls)),
        (Shows::FileOfCommit, Some(wall)) => {
            let rule = wall.rule.text();
            let what =
                format!("`{rule}` bans reading some files, so no file of a commit is shown whole");
            let hint = "`git_show` with a commit and `path` shows what changed in a file";
            Err(Trouble::new(TroubleKind::Refused, what).hint(hint))
        }
        _ => Ok(call.words.clone()),
    }
}

/// Leaves out what lies behind walls. Paths of calls are literal as ever, so that has to be said here.
fn without(words: &[String], walls: &[&PathWall]) -> Vec<String> {
    let mut all = vec!["--no-literal-pathspecs".to_owned()];
    let end = words.iter().position(|word| word == "--");
    let (before, paths) = words.split_at(end.map_or(words.len(), |end| end + 1));
    all.extend(before.iter().cloned());
    all.extend(paths.iter().map(|path| format!(":(literal){path}")));
    all.extend(walls.iter().flat_map(|wall| excluded(wall.pattern())));
    all
}

/// Leaves out a path and all below it. Git knows no `{a,b}`: there it leaves out the whole folder
/// above.
fn excluded(pattern: &str) -> Vec<String> {
    let Some((before, _)) = pattern.split_once('{') else {
        let below = (!pattern.ends_with("**")).then(|| format!(":(exclude,glob){pattern}/**"));
        let whole = format!(":(exclude,glob){pattern}");
        return [whole].into_iter().chain(below).collect();
    };
    vec![match before.rsplit_once('/') {
        Some((folder, _)) => format!(":(exclude,glob){folder}/**"),
        None => ":(exclude,glob)**".to_owned(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_paths_that_git_leaves_out() {
        for (pattern, paths) in [
            ("*/private/**", vec![":(exclude,glob)*/private/**"]),
            (
                "private",
                vec![":(exclude,glob)private", ":(exclude,glob)private/**"],
            ),
            (
                "**/*.key",
                vec![":(exclude,glob)**/*.key", ":(exclude,glob)**/*.key/**"],
            ),
            ("a/b/{c,d}/**", vec![":(exclude,glob)a/b/**"]),
            ("{a,b}", vec![":(exclude,glob)**"]),
        ] {
            assert_eq!(excluded(pattern), paths);
        }
    }
}
