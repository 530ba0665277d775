//! Whether the disk would take the next model: the folder is there, the file in it, and room for another like it.

use std::path::Path;

use crate::problem::Problem;

/// Refuses a disk that has no room for a file of `bytes` bytes beside the model at `path`.
pub(crate) fn check(path: &Path, bytes: u64) -> Result<(), Problem> {
    let name = path.file_name().unwrap_or_default().display();
    if !path.is_file() {
        return Err(Problem::unavailable(
            "Io",
            format!("the model file {name} is no longer in its folder: put it back, or restart the server"),
        ));
    }
    let free = free_beside(path).map_err(|cause| {
        Problem::unavailable("Io", format!("the folder of {name} cannot be used: {cause}"))
    })?;
    if free < bytes {
        let message = format!("the disk has {free} bytes left, but the model takes {bytes}: make room");
        return Err(Problem::unavailable("DiskFull", message));
    }
    Ok(())
}

/// Bytes that this process may still write beside a file.
#[cfg(unix)]
fn free_beside(path: &Path) -> std::io::Result<u64> {
    use rustix::fs::{Access, access, statvfs};
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    access(folder, Access::WRITE_OK)?;
    let disk = statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Elsewhere the room is not known before a file is written.
#[cfg(not(unix))]
fn free_beside(_: &Path) -> std::io::Result<u64> {
    Ok(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_lost_file_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.aact");
        assert_eq!(check(&path, 0).unwrap_err().kind, "Io");
        std::fs::write(&path, "a model").unwrap();
        assert_eq!(check(&path, 7), Ok(()));
        #[cfg(unix)]
        {
            let full = check(&path, u64::MAX).unwrap_err();
            assert_eq!((full.status.as_u16(), full.kind.as_str()), (503, "DiskFull"));
        }
    }
}
