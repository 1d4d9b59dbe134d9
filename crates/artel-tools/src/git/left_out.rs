//! Removes files that the person's rules hide from git's output, since its history
//! contains those files too.

use artel_policy::{PathWall, PathWallKind};

use super::arguments::{GitShownContent, GitToolCommand};
use crate::{ToolContext, ToolError, ToolErrorKind};

/// Returns the words of a call, with the paths to leave out. The path alone does not
/// identify one file of a commit, so such a file is not shown while rules hide files from
/// reading.
pub(super) fn words(call: &GitToolCommand, bench: &ToolContext) -> Result<Vec<String>, ToolError> {
    let stands = |wall: &&PathWall| bench.consent.leaves_up(wall);
    let walls = bench.path_walls.iter().filter(stands);
    let walls = walls.filter(|wall| wall.keeps == PathWallKind::Reading);
    let walls: Vec<&PathWall> = walls.collect();
    match (call.shows, walls.first()) {
        (GitShownContent::Changes, Some(_)) => Ok(without(&call.words, &walls)),
        (GitShownContent::FileOfCommit, Some(wall)) => {
            let rule = wall.rule.text();
            let what =
                format!("`{rule}` bans reading some files, so no file of a commit is shown whole");
            let hint = "`git_show` with a commit and `path` shows what changed in a file";
            Err(ToolError::new(ToolErrorKind::Refused, what).hint(hint))
        }
        _ => Ok(call.words.clone()),
    }
}

/// Excludes the paths behind walls. Exclusion turns literal pathspecs off, so the call's
/// own paths are marked as literal one by one.
fn without(words: &[String], walls: &[&PathWall]) -> Vec<String> {
    let mut all = vec!["--no-literal-pathspecs".to_owned()];
    let end = words.iter().position(|word| word == "--");
    let (before, paths) = words.split_at(end.map_or(words.len(), |end| end + 1));
    all.extend(before.iter().cloned());
    all.extend(paths.iter().map(|path| format!(":(literal){path}")));
    all.extend(walls.iter().flat_map(|wall| excluded(wall.pattern())));
    all
}

/// Excludes a path and everything below it. Git has no `{a,b}` patterns, so such a pattern
/// excludes the whole folder above.
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
