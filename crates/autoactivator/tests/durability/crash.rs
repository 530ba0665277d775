//! Power cuts: histories are recorded call by call, and what could be left on the disk after each call is read again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use autoactivator::{Model, ModelFile};

use super::disks::{Call, Watched};
use super::history::history;

/// Histories in the test command; `AUTOACTIVATOR_HISTORIES` asks for more.
const HISTORIES: u64 = 200;
const STEPS: usize = 6;

/// What a disk may hold after a power cut. Content that was not synced may be missing, torn or whole. Names that were
/// not synced may be the old ones or the new ones.
#[derive(Clone, Default)]
struct Left {
    /// Content by the number of its file, and whether it was synced.
    contents: Vec<(Vec<u8>, bool)>,
    /// Names now, and names when the folder was last synced.
    names: BTreeMap<PathBuf, usize>,
    synced: BTreeMap<PathBuf, usize>,
}

impl Left {
    fn after(&mut self, call: &Call) {
        match call {
            Call::Create(path) => {
                self.contents.push((Vec::new(), false));
                self.names.insert(path.clone(), self.contents.len() - 1);
            }
            Call::Write(path, bytes) => {
                let (content, synced) = &mut self.contents[self.names[path]];
                content.extend_from_slice(bytes);
                *synced = false;
            }
            Call::Sync(path) => self.contents[self.names[path]].1 = true,
            Call::Rename(from, to) => {
                let file = self.names.remove(from).unwrap();
                self.names.insert(to.clone(), file);
            }
            Call::SyncFolder => self.synced = self.names.clone(),
        }
    }

    /// Everything that could be at this path.
    fn possible(&self, path: &Path) -> Vec<Option<Vec<u8>>> {
        let mut possible = Vec::new();
        for names in [&self.names, &self.synced] {
            let Some(&file) = names.get(path) else {
                possible.push(None);
                continue;
            };
            let (content, synced) = &self.contents[file];
            possible.push(Some(content.clone()));
            if !synced {
                possible.push(Some(Vec::new()));
                possible.push(Some(content[..content.len() / 2].to_vec()));
                let mut zeros = content.clone();
                zeros[content.len() / 2..].fill(0);
                possible.push(Some(zeros));
            }
        }
        possible
    }
}

/// Writes a history, and returns the calls with the number of changes that were acknowledged before each.
fn recorded(models: &[Model], path: &Path) -> Vec<(Call, usize)> {
    let disk = Watched::default();
    let file = ModelFile::lock_on(disk.clone(), path).unwrap();
    let mut calls = Vec::new();
    for (acknowledged, model) in models.iter().enumerate() {
        file.write(model).unwrap();
        let new = disk.calls.lock().unwrap().split_off(0);
        calls.extend(new.into_iter().map(|call| (call, acknowledged)));
    }
    calls
}

/// The number of power cuts after which an acknowledged change is lost, or the file cannot be read.
fn lost(models: &[Model], calls: &[(Call, usize)], path: &Path, cuts: &mut usize) -> usize {
    let (mut left, mut lost) = (Left::default(), 0);
    let is = |found: &Option<Vec<u8>>, number: Option<usize>| match (found, number) {
        (None, None) => true,
        (Some(bytes), Some(number)) => Model::from_bytes(bytes).is_ok_and(|model| model == models[number]),
        _ => false,
    };
    let last = calls.len() - 1;
    for (i, (call, acknowledged)) in calls.iter().enumerate() {
        left.after(call);
        // After the last call of a change it is acknowledged; until then both are right.
        let done = i == last || calls[i + 1].1 > *acknowledged;
        let before = acknowledged.checked_sub(1);
        for found in left.possible(path) {
            *cuts += 1;
            let fine = is(&found, Some(*acknowledged)) || (!done && is(&found, before));
            lost += usize::from(!fine);
        }
    }
    lost
}

#[test]
fn no_power_cut_loses_what_was_acknowledged() {
    let asked = std::env::var("AUTOACTIVATOR_HISTORIES");
    let histories = asked.map_or(HISTORIES, |n| n.parse().unwrap());
    let mut cuts = 0;
    for seed in 0..histories {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.aact");
        let models = history(seed, STEPS);
        let calls = recorded(&models, &path);
        assert_eq!(lost(&models, &calls, &path, &mut cuts), 0, "history {seed}");
    }
    println!("{histories} histories, {cuts} states after a power cut, nothing lost");
}

/// The harness can see: without syncs, changes are lost.
#[test]
fn without_syncs_changes_would_be_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.aact");
    let models = history(0, STEPS);
    let mut calls = recorded(&models, &path);
    calls.retain(|(call, _)| !matches!(call, Call::Sync(_)));
    assert!(lost(&models, &calls, &path, &mut 0) > 0);
    let mut calls = recorded(&models[..1], &folder.path().join("other.aact"));
    calls.retain(|(call, _)| !matches!(call, Call::SyncFolder));
    assert!(lost(&models, &calls, &folder.path().join("other.aact"), &mut 0) > 0);
}
