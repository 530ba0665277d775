//! The stream of rows: each thread computes a few batches of images, and rows are handed on in the order of the folder.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use autoactivator::Table;

use super::Extractor;
use super::work::Done;
use crate::batch::Batch;
use crate::cache::{Cache, Kept};
use crate::error::{Error, bad};
use crate::image::{ImageFile, ImageFolder};

/// How many batches each thread computes before rows are handed on. With more, threads wait less for the slowest one.
const BATCHES_PER_THREAD: usize = 32;

/// How often the caller is asked whether to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// How images are worked through.
pub struct ExtractOptions<'a> {
    /// Where computed features are kept; none to compute all of them.
    pub cache: Option<&'a Cache>,
    /// Whether an image that cannot be read ends the stream with an error; by default it is skipped.
    pub strict: bool,
    /// How many images go through a backbone at a time. More of them were never faster, and slower at 224 px.
    pub batch: usize,
    /// Told how many images are done, and how many there are.
    pub progress: Option<Box<dyn FnMut(usize, usize) + 'a>>,
    /// Asked whether to stop.
    pub interrupted: Option<&'a dyn Fn() -> bool>,
}

impl Default for ExtractOptions<'_> {
    fn default() -> Self {
        Self {
            cache: None,
            strict: false,
            batch: 2,
            progress: None,
            interrupted: None,
        }
    }
}

/// An image that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The image.
    pub path: PathBuf,
    /// Why it could not be read, with the path in front.
    pub reason: String,
}

impl Skipped {
    pub(super) fn new(file: &ImageFile, error: &Error) -> Self {
        Self {
            path: file.path.clone(),
            reason: error.to_string(),
        }
    }
}

/// Rows of features, batch by batch in the order of the folder.
///
/// Images that cannot be read are left out and listed by [`skipped`](Self::skipped). When none can be read, the stream
/// ends with an error. After any error it ends.
pub struct ImageRows<'a> {
    extractor: &'a Extractor,
    folder: &'a ImageFolder,
    options: ExtractOptions<'a>,
    kept: Vec<Option<Kept>>,
    n_done: usize,
    computed: usize,
    skipped: Vec<Skipped>,
    warnings: Vec<String>,
    ended: bool,
}

impl<'a> ImageRows<'a> {
    pub(super) fn new(
        extractor: &'a Extractor,
        folder: &'a ImageFolder,
        options: ExtractOptions<'a>,
    ) -> Self {
        let mut warnings = Vec::new();
        let mut kept = Vec::new();
        if let Extractor::Backbones(backbones) = extractor {
            for backbone in backbones {
                let opened = options
                    .cache
                    .map(|cache| cache.of(backbone.identity(), backbone.n_features()));
                kept.push(opened.and_then(|opened| opened.map_err(|warning| warnings.push(warning)).ok()));
            }
        }
        Self {
            extractor,
            folder,
            options,
            kept,
            n_done: 0,
            computed: 0,
            skipped: Vec::new(),
            warnings,
            ended: false,
        }
    }

    /// The images that were left out so far.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Warnings for the user, such as about a cache that cannot be written.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How many rows had to be computed so far, because the cache did not have them.
    pub fn computed(&self) -> usize {
        self.computed
    }

    fn step(&mut self) -> Result<Option<Batch>, Error> {
        let folder = self.folder;
        while self.n_done < folder.images().len() {
            let threads = thread::available_parallelism().map_or(1, NonZero::get);
            let batch = self.options.batch.max(1);
            let remaining = &folder.images()[self.n_done..];
            let files = &remaining[..remaining.len().min(threads * batch * BATCHES_PER_THREAD)];
            // A few images are also divided among all threads.
            let batch = batch.min(files.len().div_ceil(threads));
            let done = self.compute(files, batch, threads)?;
            self.n_done += files.len();
            if let Some(batch) = self.gather(files, done)? {
                return Ok(Some(batch));
            }
        }
        if self.skipped.len() == folder.images().len() {
            return Err(bad(folder.root(), self.none_read()));
        }
        Ok(None)
    }

    /// Works through some images, several batches at a time, and reports progress.
    fn compute(&mut self, files: &[ImageFile], batch: usize, threads: usize) -> Result<Vec<Done>, Error> {
        let batches: Vec<&[ImageFile]> = files.chunks(batch).collect();
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (extractor, kept, strict) = (self.extractor, &self.kept, self.options.strict);
        let (sender, finished) = mpsc::channel();
        let (options, warnings) = (&mut self.options, &mut self.warnings);
        let (n_before, total) = (self.n_done, self.folder.images().len());
        thread::scope(|scope| {
            for _ in 0..threads.min(batches.len()) {
                let (sender, next, stop, batches) = (sender.clone(), &next, &stop, &batches);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(files) = batches.get(number) else { break };
                        let done = extractor.work(files, kept, strict);
                        stop.fetch_or(done.is_err(), Ordering::Relaxed);
                        if sender.send((number, done)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);

            let mut done: Vec<Option<Done>> = batches.iter().map(|_| None).collect();
            let mut n_done = n_before;
            loop {
                if options.interrupted.is_some_and(|interrupted| interrupted()) {
                    stop.store(true, Ordering::Relaxed);
                    return Err(autoactivator::Error::Interrupted.into());
                }
                match finished.recv_timeout(PATIENCE) {
                    Ok((number, result)) => {
                        n_done += batches[number].len();
                        let result = result?;
                        keep(kept, &result, warnings);
                        done[number] = Some(result);
                        if let Some(progress) = &mut options.progress {
                            progress(n_done, total);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(done.into_iter().flatten().collect()),
                }
            }
        })
    }

    /// Joins the results of the threads.
    fn gather(&mut self, files: &[ImageFile], done: Vec<Done>) -> Result<Option<Batch>, Error> {
        let mut rows = Vec::with_capacity(files.len());
        for group in done {
            rows.extend(group.rows);
            self.skipped.extend(group.skipped);
            self.computed += group.fresh.iter().map(Vec::len).sum::<usize>();
        }
        let mut names = Vec::with_capacity(files.len());
        let mut classes = Vec::with_capacity(files.len());
        let mut values = Vec::with_capacity(files.len() * self.extractor.n_features());
        for (file, row) in files.iter().zip(rows) {
            if let Some(row) = row {
                names.push(file.name.clone());
                classes.extend(file.class.clone());
                values.extend(row);
            }
        }
        if names.is_empty() {
            return Ok(None);
        }
        Ok(Some(Batch {
            x: Table::new(values, self.extractor.n_features())?,
            y: (!classes.is_empty()).then_some(classes),
            weights: None,
            names: Some(names),
        }))
    }

    fn none_read(&self) -> String {
        let first = self.skipped.first().map_or("", |skipped| skipped.reason.as_str());
        format!(
            "none of the {} images can be read; the first: {first}",
            self.skipped.len()
        )
    }
}

/// Keeps new features at once, so that little is lost when the process is killed.
fn keep(kept: &[Option<Kept>], done: &Done, warnings: &mut Vec<String>) {
    for (kept, fresh) in kept.iter().zip(&done.fresh) {
        if let Some(kept) = kept
            && let Err(warning) = kept.add(fresh)
            && !warnings.contains(&warning)
        {
            warnings.push(warning);
        }
    }
}

impl Iterator for ImageRows<'_> {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let step = self.step().transpose();
        self.ended = !matches!(step, Some(Ok(_)));
        step
    }
}
