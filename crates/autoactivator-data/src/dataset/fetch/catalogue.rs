//! What can be fetched: for each data set its mirrors, its files, and what they must contain.
//!
//! [`Catalogue::published`] is built in. A catalogue is a plain value, so that others can be made.

use std::path::{Path, PathBuf};

use super::error::Error;
use crate::pin;

/// Data sets that can be fetched.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The data sets.
    pub entries: Vec<Entry>,
}

/// One data set, or a backbone.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name, which is also the name of its folder.
    pub name: String,
    /// Addresses or folders under which the files lie, in the order in which they are tried.
    pub mirrors: Vec<String>,
    /// Its files.
    pub items: Vec<Item>,
}

/// One file of a mirror.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its name.
    pub file: String,
    /// Where it lies below the address of a mirror.
    pub path: String,
    /// Length of the content that has the checksum, or the most that it may be where there is none.
    pub bytes: u64,
    /// What is known of its content.
    pub checksum: Checksum,
    /// What the file is, and so which content that is.
    pub kind: Kind,
}

/// What is known of the content of a file.
#[derive(Clone, Debug)]
pub enum Checksum {
    /// The SHA-256 that it must have, in hexadecimal.
    Published(String),
    /// Its publisher states none, so the content that comes first is pinned. If it has this SHA-256, it is verified.
    Pinned(Option<String>),
}

impl Checksum {
    /// The contents that are right for a file in its place; none if any will do. A checksum that was pinned there counts
    /// as much as one that is known.
    pub(super) fn accepted(&self, place: &Path) -> Result<Vec<String>, Error> {
        match self {
            Self::Published(sha256) => Ok(vec![sha256.clone()]),
            Self::Pinned(known) => {
                let pinned = pin::of(place).map_err(|error| Error::Pin(Box::new(error)))?;
                Ok(pinned.map_or_else(Vec::new, |pinned| known.iter().cloned().chain([pinned]).collect()))
            }
        }
    }

    /// Pins the content of a file in its place if nothing is known of it.
    pub(super) fn pin(&self, place: &Path, found: &str) -> Result<(), Error> {
        match self {
            Self::Pinned(known) if known.as_deref() != Some(found) => {
                pin::write(place, found).map_err(|error| Error::Pin(Box::new(error)))
            }
            _ => Ok(()),
        }
    }
}

/// What a file is, and so which content its checksum covers.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Kept as it comes. When it is gzip, the checksum covers what it unpacks to.
    ///
    /// The same content packed again has another gzip header, so a checksum of the packed file would refuse good copies.
    Packed,
    /// A `.tar.gz` of which only these files are kept. The checksum covers the archive as it comes.
    Archive {
        /// Their names, without folders.
        members: Vec<String>,
    },
}

impl Item {
    /// The files that are there when this one has been fetched.
    pub(super) fn outputs(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Packed => vec![&self.file],
            Kind::Archive { members } => members.iter().map(String::as_str).collect(),
        }
    }

    /// The file in a folder, also when it was unpacked by hand.
    pub(super) fn kept_in(&self, folder: &Path) -> Option<PathBuf> {
        let unpacked = self.file.strip_suffix(".gz").unwrap_or(&self.file);
        let candidates = [folder.join(unpacked), folder.join(&self.file)];
        candidates.into_iter().find(|path| path.is_file())
    }

    /// Whether all it brings is in a folder, judged by the names alone.
    pub(super) fn is_named_in(&self, folder: &Path) -> bool {
        match &self.kind {
            Kind::Packed => self.kept_in(folder).is_some(),
            Kind::Archive { members } => members.iter().all(|member| folder.join(member).is_file()),
        }
    }

    /// The most that a mirror may send.
    pub(super) fn max_bytes(&self) -> u64 {
        match self.kind {
            // Data that cannot be compressed grows a little, depending on the packer; a header may hold a name.
            Kind::Packed => self.bytes + self.bytes / 8 + 4096,
            Kind::Archive { .. } => self.bytes,
        }
    }
}

impl Catalogue {
    /// The data sets that their publishers offer.
    ///
    /// The checksums of MNIST and Fashion-MNIST cover the unpacked idx files. They were computed from copies that others
    /// had packed again, and agree with those that public code states beside the publishers' checksums of the packed
    /// files. The one of CIFAR-100 covers its author's archive, and is the one that several public loaders check.
    pub fn published() -> Self {
        let mnist = idx(
            "mnist",
            &[
                "https://ossci-datasets.s3.amazonaws.com/mnist",
                "https://storage.googleapis.com/cvdf-datasets/mnist",
            ],
            [
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            ],
        );
        let fashion_mnist = idx(
            "fashion-mnist",
            &[
                // The publisher's bucket has no https; the checksum makes up for it.
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
                "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
            ],
            [
                "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
            ],
        );
        let cifar100 = Entry {
            name: "cifar100".to_owned(),
            mirrors: vec!["https://www.cs.toronto.edu/~kriz".to_owned()],
            items: vec![Item {
                file: "cifar-100-binary.tar.gz".to_owned(),
                path: "cifar-100-binary.tar.gz".to_owned(),
                bytes: 168_513_733,
                checksum: Checksum::Published(
                    "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec".to_owned(),
                ),
                kind: Kind::Archive {
                    members: crate::dataset::cifar::FILES.map(str::to_owned).to_vec(),
                },
            }],
        };
        Self {
            entries: vec![mnist, fashion_mnist, cifar100],
        }
    }

    /// The data set of this name; none when there is none.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The names, separated by commas.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.name.as_str()).collect();
        names.join(", ")
    }
}

/// A data set of MNIST's four files and lengths; checksums in the order of the files.
fn idx(name: &str, mirrors: &[&str], sha256: [&str; 4]) -> Entry {
    const FILES: [(&str, u64); 4] = [
        ("train-images-idx3-ubyte.gz", 16 + 60_000 * 28 * 28),
        ("train-labels-idx1-ubyte.gz", 8 + 60_000),
        ("t10k-images-idx3-ubyte.gz", 16 + 10_000 * 28 * 28),
        ("t10k-labels-idx1-ubyte.gz", 8 + 10_000),
    ];
    let items = FILES.into_iter().zip(sha256).map(|((file, bytes), sha256)| Item {
        file: file.to_owned(),
        path: file.to_owned(),
        bytes,
        checksum: Checksum::Published(sha256.to_owned()),
        kind: Kind::Packed,
    });
    Entry {
        name: name.to_owned(),
        mirrors: mirrors.iter().map(|&mirror| mirror.to_owned()).collect(),
        items: items.collect(),
    }
}
