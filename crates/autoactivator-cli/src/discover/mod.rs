//! `autoactivator discover`: groups rows that look like no known class, and says which row is in which group.
//!
//! All rows go by twice: once to find the groups, once to say of each row where it belongs. Between the two, only a sample is
//! in memory. After Ctrl-C, the rows that were seen are grouped, and what was found so far is written.

mod page;
mod proposal;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator::discovery::{Discovery, Groups, Placed};
use autoactivator::math::until;
use autoactivator::{Model, counted};
use autoactivator_data::{Batch, Part};

use crate::answers::quoted;
use crate::args::DiscoverArgs;
use crate::inbox;
use crate::interrupt;
use crate::output::{NewFolder, Output, Replace, STANDARD, Writer};
use crate::progress::RowsBar;
use crate::rows::{Expected, RowSource};
use proposal::Proposal;

pub fn discover(args: &DiscoverArgs) -> Result<()> {
    inbox::settled(&args.rows, group(args))
}

fn group(args: &DiscoverArgs) -> Result<()> {
    let inputs: [&Path; 2] = [&args.model, &args.rows.rows];
    let folder = args.output.as_deref();
    let folder = folder.map(|path| NewFolder::new(path, &inputs)).transpose()?;
    let model = Model::load(&args.model)?;
    let mut discovery = Discovery::new(&model)?;
    let expected = Expected::of(Some(&model), &args.model);
    let Some(rows) = inbox::open(&args.rows, Part::Test, &expected)? else {
        return Ok(());
    };
    look(&rows, &mut discovery).with_context(|| args.rows.name())?;
    let n_rows = discovery.n_rows();
    if interrupt::requested() {
        interrupt::answer();
        say!(
            "{}: stopped after {}: grouping these",
            args.rows.name(),
            counted(n_rows, "row")
        );
    }
    let groups = until(interrupt::requested, || discovery.groups())?;
    tell(&groups, n_rows);
    if !groups.is_empty() {
        let proposal = Proposal::begin(folder, &rows, &groups)?;
        place(&rows, n_rows, &groups, proposal).with_context(|| args.rows.name())?;
    }
    if interrupt::happened() {
        bail!("interrupted: this is what was found so far");
    }
    Ok(())
}

/// Shows all rows to a discovery, or as many as there are until Ctrl-C.
fn look(rows: &RowSource<'_>, discovery: &mut Discovery<'_>) -> Result<()> {
    let bar = bar(rows, rows.n_rows());
    for batch in rows.batches()? {
        // Images and sentences end with an error when they are interrupted.
        if interrupt::requested() {
            break;
        }
        discovery.observe(batch?.x.rows())?;
        bar.iter().for_each(|bar| bar.show(discovery.n_rows()));
    }
    Ok(())
}

/// A progress bar; images and sentences have their own.
fn bar(rows: &RowSource<'_>, n_rows: Option<usize>) -> Option<RowsBar> {
    rows.computed_features().is_none().then(|| RowsBar::new(n_rows))
}

/// Says where each of the first rows belongs: on stdout, and in the folder of the proposal.
fn place(rows: &RowSource<'_>, n_rows: usize, groups: &Groups<'_>, mut proposal: Proposal<'_>) -> Result<()> {
    let mut list = Output::new(Path::new(STANDARD), &[], Replace::Files)?.create()?;
    writeln!(list, "row,name,class,likeness")?;
    let bar = bar(rows, Some(n_rows));
    let mut sentences = rows.sentences()?;
    let mut done = 0;
    for batch in rows.batches()? {
        if done >= n_rows || interrupt::requested() {
            break;
        }
        let batch = batch?;
        let texts = sentences.as_mut().and_then(Iterator::next).transpose()?;
        let placed = groups.place(batch.x.rows())?;
        list_rows(&mut list, &batch, &placed, groups, done)?;
        let texts = texts.as_ref().map(|texts| texts.texts.as_slice());
        proposal.take(&batch, texts, &placed, done)?;
        done += batch.len();
        bar.iter().for_each(|bar| bar.show(done));
    }
    drop(bar);
    list.finish()?;
    proposal.finish(done)
}

/// Lists the rows of a batch that are in a group; `first` is the number of its first row.
fn list_rows(
    list: &mut Writer,
    batch: &Batch,
    placed: &[Placed],
    groups: &Groups<'_>,
    first: usize,
) -> Result<()> {
    for (at, placed) in placed.iter().enumerate() {
        if let Some(group) = placed.group {
            let name = batch.names.as_ref().map(|names| quoted(&names[at]));
            let (name, likeness) = (name.unwrap_or_default(), placed.likeness);
            writeln!(list, "{},{name},{},{likeness:.3}", first + at, groups[group].name)?;
        }
    }
    Ok(())
}

/// Says what was found.
fn tell(groups: &Groups<'_>, n_rows: usize) {
    let rows = counted(n_rows, "row");
    match groups.len() {
        0 => say!("{rows}: nothing that looks like a new class"),
        n => say!("{rows}: {} may be new", counted(n, "class")),
    }
}
