//! What the page and the Markdown are made of: a [`Chapter`] for each table or figure of the paper, in its order.
//!
//! [`chapters`] puts experiments on the same data into one [`Sheet`]; one whose claims are answered stands alone.

use super::plots;
use super::sheet::Sheet;
use super::verdict::{Verdict, verdicts};
use super::{Reproduced, Reproduction, Status};
use crate::report::distinct;

/// A table or figure of the paper.
pub(super) struct Chapter {
    pub title: String,
    pub parts: Vec<Part>,
}

/// Some experiments of a chapter.
pub(super) struct Part {
    pub title: String,
    /// What a reader must know.
    pub notes: Vec<String>,
    pub sheet: Option<Sheet>,
    pub verdicts: Vec<Verdict>,
    /// How many of its experiments were not run here.
    pub not_run: usize,
    /// Plots, as HTML.
    pub figures: String,
    /// Files of pictures that a document shows, too.
    pub pictures: Vec<String>,
}

/// All chapters: first the exams side by side, then the paper's tables and figures.
pub(super) fn chapters(reproduction: &Reproduction) -> Vec<Chapter> {
    let all = || reproduction.experiments.iter();
    let places = distinct(all().map(|experiment| experiment.paper.place.as_str()));
    let chapter = |place: &str| Chapter {
        title: place.to_owned(),
        parts: groups(all().filter(|experiment| experiment.paper.place == place))
            .iter()
            .map(|group| part(group, reproduction.quick))
            .collect(),
    };
    let exams = exams(reproduction);
    exams.into_iter().chain(places.into_iter().map(chapter)).collect()
}

fn exams(reproduction: &Reproduction) -> Option<Chapter> {
    let parts: Vec<Part> = groups(reproduction.experiments.iter())
        .iter()
        .filter_map(|group| {
            Some(Part {
                title: group.first()?.data(),
                notes: Vec::new(),
                sheet: Some(Sheet::exams(group, reproduction.quick)?),
                verdicts: Vec::new(),
                not_run: 0,
                figures: String::new(),
                pictures: Vec::new(),
            })
        })
        .collect();
    (!parts.is_empty()).then(|| Chapter {
        title: "The exams side by side".to_owned(),
        parts,
    })
}

/// Experiments on the same data.
fn groups<'a>(experiments: impl Iterator<Item = &'a Reproduced>) -> Vec<Vec<&'a Reproduced>> {
    let mut groups: Vec<Vec<&Reproduced>> = Vec::new();
    for experiment in experiments {
        let alone = |e: &Reproduced| !e.paper.claims.is_empty() || e.record().is_none();
        let fits = |group: &&mut Vec<&Reproduced>| {
            !alone(experiment) && !alone(group[0]) && group[0].data() == experiment.data()
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(experiment),
            None => groups.push(vec![experiment]),
        }
    }
    groups
}

fn part(group: &[&Reproduced], quick: bool) -> Part {
    let notes = group.iter().map(|e| e.paper.note.as_str());
    let mut notes: Vec<String> = distinct(notes.filter(|note| !note.is_empty()))
        .into_iter()
        .map(str::to_owned)
        .collect();
    let mut figures = String::new();
    let mut answers = Vec::new();
    for experiment in group {
        match &experiment.status {
            Status::Examined { record, .. } => answers.extend(verdicts(record, &experiment.paper.claims)),
            Status::Drawn { drawing, .. } => {
                figures += &plots::drawing(&experiment.title, drawing);
                notes.extend(plots::lost(drawing));
                notes.push(format!(
                    "{}. Drawn by `{}`.",
                    experiment.data(),
                    experiment.command(quick)
                ));
            }
            Status::NotRun(why) => notes.push(format!("Not run here: {why}")),
        }
    }
    figures += &plots::of_records(group);
    let titles = distinct(group.iter().map(|e| e.title.as_str()));
    Part {
        title: titles.join("; "),
        notes,
        sheet: has_rows(group).then(|| Sheet::comparison(group, quick)),
        verdicts: answers,
        not_run: group
            .iter()
            .filter(|e| matches!(e.status, Status::NotRun(_)))
            .count(),
        figures,
        pictures: group.iter().filter_map(|e| Some(e.picture()?.0)).collect(),
    }
}

/// Whether anything but pictures is to be shown.
fn has_rows(group: &[&Reproduced]) -> bool {
    let drawn = |e: &&&Reproduced| matches!(e.status, Status::Drawn { .. });
    !group.iter().any(|e| drawn(&e))
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn chapters_follow_the_paper() {
        let reproduction = example::reproduction();
        let chapters = chapters(&reproduction);
        let titles: Vec<&str> = chapters.iter().map(|chapter| chapter.title.as_str()).collect();
        assert_eq!(
            titles,
            ["The exams side by side", "Table 1", "Figure 2", "Table 3"]
        );
        assert!(chapters[2].parts[0].sheet.is_none());
        assert!(
            chapters[3].parts[0]
                .notes
                .iter()
                .any(|note| note.contains("Not run here"))
        );
    }

    #[test]
    fn experiments_on_the_same_data_share_a_table_unless_they_answer_claims() {
        let mut reproduction = example::reproduction();
        let twin = || example::reproduction().experiments.swap_remove(0);
        reproduction.experiments.insert(1, twin());
        assert_eq!(chapters(&reproduction)[1].parts.len(), 2);
        for experiment in &mut reproduction.experiments {
            experiment.paper.claims.clear();
        }
        assert_eq!(chapters(&reproduction)[1].parts.len(), 1);
    }
}
