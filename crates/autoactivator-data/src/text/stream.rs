//! The stream of rows: sentences are looked up in the cache, and what it lacks is computed on every core.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use autoactivator::Table;

use super::encoder::Encoder;
use super::groups::groups;
use super::tokenizer::Encoded;
use crate::batch::Batch;
use crate::cache::{Cache, Content, Kept};
use crate::error::Error;
use crate::sentences::{SentenceBatches, Sentences};

/// How often the caller is asked whether to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many sentences a thread divides into tokens at a time.
const TOKENISED: usize = 64;

/// How sentences are worked through.
#[derive(Default)]
pub struct TextOptions<'a> {
    /// Where computed features are kept; none to compute all of them.
    pub cache: Option<&'a Cache>,
    /// Told how many sentences are done.
    pub progress: Option<Box<dyn FnMut(usize) + 'a>>,
    /// Asked whether to stop.
    pub interrupted: Option<&'a dyn Fn() -> bool>,
}

/// Rows of features, batch by batch in the order of the sentences. After an error the stream ends.
pub struct TextRows<'a> {
    encoder: &'a Encoder,
    sentences: SentenceBatches,
    options: TextOptions<'a>,
    kept: Option<Kept>,
    n_done: usize,
    computed: usize,
    warnings: Vec<String>,
    ended: bool,
}

impl Encoder {
    /// Streams the rows of sentences.
    pub fn rows<'a>(&'a self, sentences: SentenceBatches, options: TextOptions<'a>) -> TextRows<'a> {
        let mut warnings = Vec::new();
        let opened = options
            .cache
            .map(|cache| cache.of_encoder(self.identity(), self.n_features()));
        let kept = opened.and_then(|opened| opened.map_err(|warning| warnings.push(warning)).ok());
        TextRows {
            encoder: self,
            sentences,
            options,
            kept,
            n_done: 0,
            computed: 0,
            warnings,
            ended: false,
        }
    }
}

impl TextRows<'_> {
    /// Warnings for the user, such as about a cache that cannot be written.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How many rows had to be computed so far, because the cache did not have them.
    pub fn computed(&self) -> usize {
        self.computed
    }

    fn step(&mut self) -> Result<Option<Batch>, Error> {
        let Some(sentences) = self.sentences.next().transpose()? else {
            return Ok(None);
        };
        let mut rows = self.known(&sentences);
        let missing: Vec<usize> = (0..sentences.len()).filter(|&at| rows[at].is_none()).collect();
        self.report(sentences.len() - missing.len());
        let texts: Vec<&str> = missing.iter().map(|&at| sentences.texts[at].as_str()).collect();
        let tokens = self.tokens(&texts)?;
        for (place, row) in self.compute(&texts, &tokens)? {
            rows[missing[place]] = Some(row);
        }
        let values: Vec<f32> = rows.into_iter().flatten().flatten().collect();
        Ok(Some(Batch {
            x: Table::new(values, self.encoder.n_features())?,
            y: sentences.y,
            weights: sentences.weights,
            names: sentences.names,
        }))
    }

    /// What the cache holds.
    fn known(&self, sentences: &Sentences) -> Vec<Option<Vec<f32>>> {
        let look_up = |text: &String| self.kept.as_ref()?.get(Content::of(text.as_bytes()));
        sentences.texts.iter().map(look_up).collect()
    }

    fn report(&mut self, n_more: usize) {
        self.n_done += n_more;
        if let Some(progress) = &mut self.options.progress {
            progress(self.n_done);
        }
    }

    fn tokens(&mut self, texts: &[&str]) -> Result<Vec<Encoded>, Error> {
        let encoder = self.encoder;
        let pieces: Vec<&[&str]> = texts.chunks(TOKENISED).collect();
        let mut found: Vec<Option<Vec<Encoded>>> = pieces.iter().map(|_| None).collect();
        let work = |piece: usize| -> Result<Vec<Encoded>, Error> {
            let encoded = pieces[piece].iter().map(|text| encoder.tokens(text));
            let encoded: Result<Vec<Encoded>, String> = encoded.collect();
            encoded.map_err(|reason| crate::error::bad(std::path::Path::new("a sentence"), reason))
        };
        on_every_core(pieces.len(), self.options.interrupted, work, |piece, encoded| {
            found[piece] = Some(encoded);
        })?;
        Ok(found.into_iter().flatten().flatten().collect())
    }

    /// The row of each sentence, in any order; each is kept at once, so that little is lost when the process is killed.
    fn compute(&mut self, texts: &[&str], tokens: &[Encoded]) -> Result<Vec<(usize, Vec<f32>)>, Error> {
        let encoder = self.encoder;
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let lengths: Vec<usize> = tokens.iter().map(|tokens| tokens.ids.len()).collect();
        let groups = groups(&lengths, threads);
        let work = |group: usize| {
            let sentences: Vec<&Encoded> = groups[group].iter().map(|&place| &tokens[place]).collect();
            encoder.rows_of(&sentences)
        };
        let mut found = Vec::with_capacity(texts.len());
        let interrupted = self.options.interrupted;
        on_every_core(groups.len(), interrupted, work, |group, values| {
            let rows = values.chunks_exact(encoder.n_features()).map(<[f32]>::to_vec);
            let rows: Vec<(usize, Vec<f32>)> = groups[group].iter().copied().zip(rows).collect();
            self.keep(texts, &rows);
            self.report(rows.len());
            found.extend(rows);
        })?;
        self.computed += found.len();
        Ok(found)
    }

    fn keep(&mut self, texts: &[&str], rows: &[(usize, Vec<f32>)]) {
        let Some(kept) = &self.kept else { return };
        let contents = rows
            .iter()
            .map(|(place, row)| (Content::of(texts[*place].as_bytes()), row.clone()));
        if let Err(warning) = kept.add(&contents.collect::<Vec<_>>())
            && !self.warnings.contains(&warning)
        {
            self.warnings.push(warning);
        }
    }
}

impl Iterator for TextRows<'_> {
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

/// Does `n_jobs` jobs on as many threads as there are cores, and hands each result to this thread when it is ready.
fn on_every_core<T: Send>(
    n_jobs: usize,
    interrupted: Option<&dyn Fn() -> bool>,
    work: impl Fn(usize) -> Result<T, Error> + Sync,
    mut done: impl FnMut(usize, T),
) -> Result<(), Error> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let (sender, finished) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads.min(n_jobs) {
            let (sender, next, stop, work) = (sender.clone(), &next, &stop, &work);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= n_jobs {
                        break;
                    }
                    let result = work(job);
                    stop.fetch_or(result.is_err(), Ordering::Relaxed);
                    if sender.send((job, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        loop {
            if interrupted.is_some_and(|interrupted| interrupted()) {
                stop.store(true, Ordering::Relaxed);
                return Err(autoactivator::Error::Interrupted.into());
            }
            match finished.recv_timeout(PATIENCE) {
                Ok((job, result)) => done(job, result?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    })
}
