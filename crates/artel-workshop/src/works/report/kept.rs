//! Keeps what a person wrote into a report when the report is written again. Hashes in
//! `.artel/reports` tell the text that Artel wrote last.

use std::path::{Path, PathBuf};

use artel_types::{Failure, FailureCode, RunId};

use crate::trouble::file_failure;
use crate::works::inbox::PreservedTexts;
use crate::workshop::Workshop;

/// Advice for a person whose words were in a report.
const ADVICE: &str = "a report is made from the journal alone: keep words of your own in a page of \
                      your own in `Knowledge`";

impl Workshop {
    /// Writes the text of a report. If a person changed the present one, keeps a copy of it
    /// first.
    pub(super) fn put_report(&self, file: &Path, run: RunId, text: &str) -> Result<(), Failure> {
        let failed = |error| file_failure(FailureCode::W008, &error);
        let known = self.known_hashes(run);
        let is_known = |there: &str| {
            there.trim().is_empty() || there == text || known.contains(&hash_of(there))
        };
        let kept: PreservedTexts = self.keep_page(file, is_known)?;
        // The previous text also counts, because the new one may not be in place yet.
        let last = known.last().cloned();
        let hashes: Vec<String> = last.into_iter().chain([hash_of(text)]).collect();
        let note = self.hashes_of(run);
        let folder = note.parent().unwrap_or(&self.root).to_owned();
        artel_files::make_dirs(&folder, 0o700).map_err(failed)?;
        artel_files::write_atomic(&note, hashes.join("\n").as_bytes(), 0o600).map_err(failed)?;
        artel_files::write_atomic(file, text.as_bytes(), crate::private::PRIVATE_FILE)
            .map_err(failed)?;
        kept.tell_for_good(file, ADVICE)
    }

    fn hashes_of(&self, run: RunId) -> PathBuf {
        self.root.join(".artel/reports").join(run.to_string())
    }

    /// Returns the hashes of the texts that Artel may have written to a run's report, newest
    /// last.
    fn known_hashes(&self, run: RunId) -> Vec<String> {
        let bytes = artel_files::read_bounded(&self.hashes_of(run), 4096).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.lines().map(str::to_owned).collect()
    }
}

fn hash_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
