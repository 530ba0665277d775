//! Every call to the disk fails once: what was acknowledged is still there, what was refused is not, and nothing else is
//! left behind.

use std::fs;
use std::path::Path;

use autoactivator::{Error, Model, ModelFile};

use super::disks::Watched;
use super::history::history;

/// Writes the models one after the other; returns the number that were acknowledged, and the first refusal.
fn write_all(models: &[Model], file: &ModelFile) -> (usize, Option<Error>) {
    for (done, model) in models.iter().enumerate() {
        if let Err(error) = file.write(model) {
            return (done, Some(error));
        }
    }
    (models.len(), None)
}

fn there(path: &Path) -> Option<Model> {
    path.exists().then(|| Model::load(path).unwrap())
}

#[test]
fn each_call_may_fail() {
    let models = history(3, 8);
    for n in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.aact");
        let file = ModelFile::lock_on(Watched::failing_at(n), &path).unwrap();
        let (done, refusal) = write_all(&models, &file);
        let acknowledged = done.checked_sub(1).map(|last| models[last].clone());
        match refusal {
            None => {
                assert!(n > 4 * models.len(), "{n} calls");
                assert_eq!(there(&path), acknowledged);
                return;
            }
            Some(Error::NotSynced { .. }) => {
                assert_eq!(there(&path).as_ref(), Some(&models[done]), "call {n}");
                let again = file.write(&models[done]).unwrap_err();
                assert!(matches!(again, Error::NotSynced { .. }), "call {n}: {again}");
            }
            Some(error) => {
                assert_eq!(there(&path), acknowledged, "call {n}: {error}");
                // The next change succeeds as if nothing had been.
                file.write(&models[done]).unwrap();
                assert_eq!(there(&path).as_ref(), Some(&models[done]), "call {n}");
            }
        }
        drop(file);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "call {n}: only the model"
        );
        // A new start goes on from what is there.
        let file = ModelFile::lock(&path).unwrap();
        file.write(&models[0]).unwrap();
    }
}
