//! Other writers and other names of the same file.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use autoactivator::{Error, Model, ModelFile};

use super::history::{empty, history};

#[track_caller]
fn is_locked(found: &Result<ModelFile, Error>) {
    assert!(matches!(found, Err(Error::Locked { .. })), "{found:?}");
}

#[test]
fn a_file_is_locked_under_all_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("far")).unwrap();
    empty().save(at("model.aact")).unwrap();
    fs::hard_link(at("model.aact"), at("hard.aact")).unwrap();
    fs::hard_link(at("model.aact"), at("far/model.aact")).unwrap();
    symlink(at("model.aact"), at("soft.aact")).unwrap();
    symlink(at("far"), at("folder")).unwrap();
    let names = [
        "model.aact",
        "hard.aact",
        "far/model.aact",
        "soft.aact",
        "folder/model.aact",
    ];
    for held in names {
        let file = ModelFile::lock(&at(held)).unwrap();
        for asked in names {
            is_locked(&ModelFile::lock(&at(asked)));
        }
        drop(file);
    }
}

#[test]
fn a_lock_does_not_hang_on_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.aact");
    empty().save(&path).unwrap();
    let file = ModelFile::lock(&path).unwrap();
    fs::remove_file(folder.path().join(".model.aact.lock")).unwrap();
    is_locked(&ModelFile::lock(&path));
    // Also after the file has been replaced by its holder.
    let models = history(1, 3);
    file.write(&models[0]).unwrap();
    is_locked(&ModelFile::lock(&path));
}

#[test]
fn nobody_overwrites_what_somebody_else_has_put_there() {
    let models = history(1, 3);
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let path = home.join("model.aact");
    let refused = |file: &ModelFile| {
        let found = file.write(&models[2]);
        assert!(matches!(found, Err(Error::Replaced { .. })), "{found:?}");
    };
    fs::create_dir(&home).unwrap();
    models[0].save(&path).unwrap();
    // Copied over it.
    let file = ModelFile::lock(&path).unwrap();
    fs::write(&path, models[1].to_bytes().unwrap()).unwrap();
    refused(&file);
    assert_eq!(Model::load(&path).unwrap(), models[1]);
    drop(file);
    // Removed.
    let file = ModelFile::lock(&path).unwrap();
    fs::remove_file(&path).unwrap();
    refused(&file);
    assert!(!path.exists());
    drop(file);
    // Made while a new model was being learned.
    let file = ModelFile::lock(&path).unwrap();
    fs::write(&path, models[1].to_bytes().unwrap()).unwrap();
    refused(&file);
    drop(file);
    // The folder was moved away and made anew.
    let file = ModelFile::lock(&path).unwrap();
    fs::rename(&home, folder.path().join("moved")).unwrap();
    fs::create_dir(&home).unwrap();
    fs::copy(folder.path().join("moved/model.aact"), &path).unwrap();
    let other = ModelFile::lock(&path).unwrap();
    other.write(&models[0]).unwrap();
    refused(&file);
    assert_eq!(Model::load(&path).unwrap(), models[0]);
}

#[test]
fn mode_and_owner_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.aact");
    let models = history(1, 2);
    models[0].save(&path).unwrap();
    for mode in [0o600, 0o640, 0o664] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let before = fs::metadata(&path).unwrap();
        models[1].save(&path).unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_ne!(before.ino(), after.ino());
        assert_eq!(
            (before.mode(), before.uid(), before.gid()),
            (after.mode(), after.uid(), after.gid())
        );
    }
}

/// Names beside the model cannot be used to write somewhere else.
#[test]
fn links_that_were_put_there_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("victim"), "precious").unwrap();
    let pid = std::process::id();
    for name in [format!(".model.aact.{pid}.tmp"), ".model.aact.lock".to_owned()] {
        symlink(at("victim"), at(&name)).unwrap();
    }
    let refused = empty().save(at("model.aact")).unwrap_err().to_string();
    assert!(refused.contains("symbolic link"), "{refused}");
    fs::remove_file(at(".model.aact.lock")).unwrap();
    empty().save(at("model.aact")).unwrap();
    assert_eq!(fs::read_to_string(at("victim")).unwrap(), "precious");
}
