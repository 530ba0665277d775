//! Stands in for `npz` in a build without it: every file is refused with the name of the feature.

use std::path::Path;

use super::{Columns, Opened};
use crate::error::Error;

pub(super) fn open(path: &Path, _columns: &Columns) -> Opened {
    Err(Error::LeftOut {
        path: path.to_owned(),
        cannot: "reads no npz files",
        feature: "npz",
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::refused;

    #[test]
    fn files_are_refused_with_the_name_of_the_feature() {
        let folder = tempfile::tempdir().unwrap();
        refused(
            &folder,
            "arrays",
            "arrays",
            b"PK\x03\x04 and more",
            "build with the feature `npz`",
        );
    }
}
