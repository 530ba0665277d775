//! How is a learner examined? Which test rows it is told belong together decides the result like nothing else.
//!
//! [`Protocol`] is the choice, [`examine`] the examination on all [`Task`]s seen so far, which gives [`Marks`], and
//! [`tally`] the same row by row; [`metrics`](crate::metrics) sums its figures up.
//!
//! ```
//! use autoactivator_exam::protocol::Protocol;
//!
//! let protocol: Protocol = "task-batch=10".parse()?;
//! assert_eq!(protocol.to_string(), "task-batch=10");
//! assert!(protocol.meaning().contains("known to share a task"));
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use autoactivator::{Learner, Table};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use crate::error::Error;
use crate::marks::{Mark, Marks};
use crate::scenario::Task;
use crate::tally::{Seen, Tally};
use autoactivator_data::dataset::Dataset;

/// Which test rows are shown together, and so what the learner is told beside the rows themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
#[non_exhaustive]
pub enum Protocol {
    /// `instance`: each row alone. The only exam that tells the learner nothing.
    #[default]
    Instance,
    /// `task-batch=10`: groups of rows from one task. The paper's exam.
    TaskBatch(GroupSize),
    /// `class-batch=10`: groups of rows from one class.
    ClassBatch(GroupSize),
    /// `mixed-batch=10`: groups of rows from all tasks seen.
    MixedBatch(GroupSize),
    /// `task-told`: each row alone, with the classes of its task told. Task-incremental: what single units reach.
    TaskTold,
}

/// How many rows form a group; when they do not divide evenly, the last group is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSize {
    /// So many.
    Rows(NonZeroUsize),
    /// `all`: all rows of the task, of the class, or of all tasks.
    All,
}

impl Protocol {
    /// What the exam tells the learner, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Instance => "Each test row is judged alone; the learner is told nothing about its task.",
            Self::TaskBatch(_) => {
                "Test rows come in groups that are known to share a task, as in the paper; this helps greatly."
            }
            Self::ClassBatch(_) => {
                "Test rows come in groups that are known to share a class, the greatest help of all."
            }
            Self::MixedBatch(_) => "Test rows come in groups drawn at random from all tasks seen so far.",
            Self::TaskTold => {
                "Each test row comes with the classes of its task, and only these are possible answers: the accuracy \
                 of single units. This is task-incremental learning, not class-incremental."
            }
        }
    }

    /// Cuts the test rows of the tasks into groups that are judged together.
    fn groups(self, dataset: &Dataset, tasks: &[Task], seed: u64) -> Vec<Vec<Question>> {
        let (mut pools, size) = match self {
            // Rows judged alone need no shuffling; the chunks only bound the memory in use.
            Self::Instance => return cut(&one_pool(tasks), Some(CHUNK)),
            Self::TaskBatch(size) => (pools_by_task(tasks), size),
            Self::ClassBatch(size) => (pools_by_class(dataset, tasks), size),
            Self::MixedBatch(size) => (vec![one_pool(tasks)], size),
            Self::TaskTold => return pools_by_task(tasks),
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // The first stream of the same seed has ordered the classes.
        rng.set_stream(1);
        pools.iter_mut().for_each(|pool| pool.shuffle(&mut rng));
        pools.iter().flat_map(|pool| cut(pool, size.rows())).collect()
    }
}

impl GroupSize {
    fn rows(self) -> Option<usize> {
        match self {
            Self::Rows(rows) => Some(rows.get()),
            Self::All => None,
        }
    }
}

/// Rows judged alone are handed over in chunks of this many.
const CHUNK: usize = 4096;

/// One test row, and the task it counts for.
#[derive(Clone, Copy)]
struct Question {
    task: usize,
    row: usize,
}

/// Examines a learner on all tasks seen so far: the percentage of right answers for each.
pub fn accuracy(
    learner: &dyn Learner,
    dataset: &Dataset,
    tasks_seen: &[Task],
    protocol: Protocol,
    seed: u64,
) -> Result<Vec<f64>, Error> {
    Ok(examine(learner, dataset, tasks_seen, protocol, seed)?.by_task())
}

/// Examines a learner on all tasks seen so far: how many test rows of each class are right.
///
/// `seed` decides how groups are drawn; each task of a [`Scenario`](crate::scenario::Scenario) has test rows.
pub fn examine(
    learner: &dyn Learner,
    dataset: &Dataset,
    tasks_seen: &[Task],
    protocol: Protocol,
    seed: u64,
) -> Result<Marks, Error> {
    let mut of_class = vec![Mark::default(); dataset.test.y.names().len()];
    for group in protocol.groups(dataset, tasks_seen, seed) {
        let answers = ask(learner, dataset, tasks_seen, protocol, &group)?;
        for (question, answer) in group.iter().zip(answers) {
            let mark = &mut of_class[dataset.test.y.codes()[question.row] as usize];
            let answered = learner.classes().get(answer as usize);
            let right = answered.is_some_and(|class| class == dataset.test.y.name(question.row));
            mark.right += usize::from(right);
            mark.of += 1;
        }
    }
    let marks = |task: &Task| {
        task.classes
            .iter()
            .map(|&class| of_class[class as usize])
            .collect()
    };
    Ok(Marks {
        tasks: tasks_seen.iter().map(marks).collect(),
    })
}

/// The same examination row by row: which class was answered for which, and how sure the learner was, if each row is
/// judged alone and it tells.
pub fn tally(
    learner: &dyn Learner,
    dataset: &Dataset,
    tasks_seen: &[Task],
    protocol: Protocol,
    seed: u64,
) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    for group in protocol.groups(dataset, tasks_seen, seed) {
        let (answers, probabilities) = if protocol == Protocol::Instance {
            learner.predict_with_probability(rows_of(dataset, &group).rows())?
        } else {
            (ask(learner, dataset, tasks_seen, protocol, &group)?, None)
        };
        for (at, (question, answer)) in group.iter().zip(answers).enumerate() {
            let answered = learner.classes().get(answer as usize);
            tally.add(&Seen {
                row: question.row,
                name: None,
                class: dataset.test.y.name(question.row),
                answer: answered.map_or("", String::as_str),
                probability: probabilities.as_ref().map(|p| p[at]),
            });
        }
    }
    Ok(tally.bounded())
}

fn rows_of(dataset: &Dataset, group: &[Question]) -> Table {
    let rows: Vec<usize> = group.iter().map(|question| question.row).collect();
    dataset.test.x.rows().gather(&rows)
}

fn ask(
    learner: &dyn Learner,
    dataset: &Dataset,
    tasks: &[Task],
    protocol: Protocol,
    group: &[Question],
) -> Result<Vec<u32>, Error> {
    let x = rows_of(dataset, group);
    Ok(match (protocol, group) {
        (Protocol::Instance, _) => learner.predict(x.rows())?,
        (Protocol::TaskTold, [first, ..]) => {
            learner.predict_among(x.rows(), &classes_of(learner, dataset, &tasks[first.task]))?
        }
        _ => learner.predict_group(x.rows())?,
    })
}

/// The classes of a task, as the learner counts them.
fn classes_of(learner: &dyn Learner, dataset: &Dataset, task: &Task) -> Vec<u32> {
    let names = dataset.test.y.names();
    let place = |&code: &u32| {
        let name = &names[code as usize];
        learner.classes().iter().position(|class| class == name)
    };
    let places = task.classes.iter().filter_map(place);
    places.map(|place| place as u32).collect()
}

fn pools_by_task(tasks: &[Task]) -> Vec<Vec<Question>> {
    let pool = |(task, dealt): (usize, &Task)| dealt.test.iter().map(|&row| Question { task, row }).collect();
    tasks.iter().enumerate().map(pool).collect()
}

fn pools_by_class(dataset: &Dataset, tasks: &[Task]) -> Vec<Vec<Question>> {
    let codes = dataset.test.y.codes();
    let of_class = |pool: &[Question], class: u32| {
        pool.iter()
            .filter(|question| codes[question.row] == class)
            .copied()
            .collect()
    };
    let pools = pools_by_task(tasks);
    let by_class = tasks
        .iter()
        .zip(&pools)
        .flat_map(|(task, pool)| task.classes.iter().map(move |&class| of_class(pool, class)));
    by_class.collect()
}

fn one_pool(tasks: &[Task]) -> Vec<Question> {
    pools_by_task(tasks).concat()
}

/// Cuts a pool into groups of `size`, or leaves it whole.
fn cut(pool: &[Question], size: Option<usize>) -> Vec<Vec<Question>> {
    let size = size.unwrap_or(pool.len()).max(1);
    pool.chunks(size).map(<[_]>::to_vec).collect()
}

impl TryFrom<String> for Protocol {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl FromStr for Protocol {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text.trim()).ok_or_else(|| {
            Error::Scenario(format!(
                "'{text}' is not a protocol: write instance, task-batch=B, class-batch=B or mixed-batch=B, where B \
                 is a number of rows above 0 or `all`, or task-told"
            ))
        })
    }
}

fn parse(text: &str) -> Option<Protocol> {
    if text == "instance" {
        return Some(Protocol::Instance);
    }
    if text == "task-told" {
        return Some(Protocol::TaskTold);
    }
    let (kind, size) = text.split_once('=')?;
    let size = match size {
        "all" => GroupSize::All,
        rows => GroupSize::Rows(rows.parse().ok()?),
    };
    match kind {
        "task-batch" => Some(Protocol::TaskBatch(size)),
        "class-batch" => Some(Protocol::ClassBatch(size)),
        "mixed-batch" => Some(Protocol::MixedBatch(size)),
        _ => None,
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instance => f.write_str("instance"),
            Self::TaskBatch(size) => write!(f, "task-batch={size}"),
            Self::ClassBatch(size) => write!(f, "class-batch={size}"),
            Self::MixedBatch(size) => write!(f, "mixed-batch={size}"),
            Self::TaskTold => f.write_str("task-told"),
        }
    }
}

impl fmt::Display for GroupSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(rows) => write!(f, "{rows}"),
            Self::All => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashSet;

    use autoactivator::{Labels, Observer, Rows, Size};
    use proptest::prelude::*;

    use super::*;
    use crate::scenario::Scenario;
    use autoactivator_data::dataset::Split;

    /// The single feature of a row is the class it will be answered with; remembers the groups it saw.
    struct Parrot {
        classes: Vec<String>,
        groups: RefCell<Vec<Vec<u32>>>,
    }

    impl Parrot {
        fn new(classes: &[&str]) -> Self {
            Self {
                classes: classes.iter().map(|&class| class.to_owned()).collect(),
                groups: RefCell::default(),
            }
        }
    }

    impl Learner for Parrot {
        fn name(&self) -> &'static str {
            "parrot"
        }

        fn learn(
            &mut self,
            _: Rows<'_>,
            _: &Labels,
            _: &mut dyn Observer,
        ) -> Result<(), autoactivator::Error> {
            Ok(())
        }

        fn n_features(&self) -> Option<usize> {
            None
        }

        fn classes(&self) -> &[String] {
            &self.classes
        }

        fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, autoactivator::Error> {
            Ok(x.values().iter().map(|&value| value as u32).collect())
        }

        fn predict_group(&self, x: Rows<'_>) -> Result<Vec<u32>, autoactivator::Error> {
            let answers = self.predict(x)?;
            self.groups.borrow_mut().push(answers.clone());
            Ok(answers)
        }

        fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, autoactivator::Error> {
            let told = |class: u32| if among.contains(&class) { class } else { among[0] };
            Ok(self.predict(x)?.into_iter().map(told).collect())
        }

        fn size(&self) -> Size {
            Size::default()
        }
    }

    /// Test rows of the given classes; a row's feature is its class code.
    fn dataset(n_classes: usize, codes: &[u32]) -> Dataset {
        let names: Vec<String> = (0..n_classes).map(|class| class.to_string()).collect();
        let split = Split {
            x: Table::new(codes.iter().map(|&code| code as f32).collect(), 1).unwrap(),
            y: Labels::new(names, codes.to_vec()).unwrap(),
        };
        Dataset {
            name: "made up".into(),
            train: split.clone(),
            test: split,
            image: None,
        }
    }

    fn task(classes: &[u32], test: &[usize]) -> Task {
        Task {
            classes: classes.to_vec(),
            train: Vec::new(),
            test: test.to_vec(),
        }
    }

    fn protocol(text: &str) -> Protocol {
        text.parse().unwrap()
    }

    #[test]
    fn percent_right_for_each_task() {
        let data = dataset(3, &[0, 1, 1, 2]);
        let tasks = [task(&[0, 1], &[0, 1, 2]), task(&[2], &[3])];
        // Answer 0 means class 0, answer 1 means class 2 - wrong twice -, answer 2 means nothing.
        let learner = Parrot::new(&["0", "2"]);
        for text in ["instance", "task-batch=2", "class-batch=all", "mixed-batch=3"] {
            let percent = accuracy(&learner, &data, &tasks, protocol(text), 0).unwrap();
            assert_eq!(percent, [100.0 / 3.0, 0.0], "{text}");
        }
    }

    #[test]
    fn groups_are_as_the_protocol_says() {
        let codes: Vec<u32> = (0..40).map(|row| row % 4).collect();
        let data = dataset(4, &codes);
        let tasks = Scenario::Even {
            classes: None,
            tasks: NonZeroUsize::new(2).unwrap(),
        }
        .tasks(&data, 1)
        .unwrap();
        let groups = |text: &str| {
            let learner = Parrot::new(&["0", "1", "2", "3"]);
            assert_eq!(
                accuracy(&learner, &data, &tasks, protocol(text), 3).unwrap(),
                [100.0, 100.0]
            );
            learner.groups.take()
        };
        let distinct = |group: &Vec<u32>| group.iter().collect::<HashSet<_>>().len();
        let lengths = |groups: &[Vec<u32>]| groups.iter().map(Vec::len).collect::<Vec<_>>();

        assert!(groups("instance").is_empty());
        let by_task = groups("task-batch=8");
        assert_eq!(lengths(&by_task), [8, 8, 4, 8, 8, 4]);
        assert!(by_task.iter().all(|group| distinct(group) <= 2));
        assert_eq!(lengths(&groups("task-batch=all")), [20, 20]);
        let by_class = groups("class-batch=4");
        assert_eq!(lengths(&by_class), [4, 4, 2].repeat(4));
        assert!(by_class.iter().all(|group| distinct(group) == 1));
        assert_eq!(lengths(&groups("mixed-batch=all")), [40]);
        assert_eq!(groups("mixed-batch=7"), groups("mixed-batch=7"));
    }

    #[test]
    fn a_task_that_is_told_leaves_its_own_classes_only() {
        // Rows say "class 2"; told that it is one of the first task's, the learner answers with the first of these.
        let data = Dataset {
            test: Split {
                x: Table::new(vec![2.0, 2.0, 2.0], 1).unwrap(),
                y: Labels::from_names(["a", "b", "c"]),
            },
            ..dataset(3, &[0, 1, 2])
        };
        let tasks = [task(&[0, 1], &[0, 1]), task(&[2], &[2])];
        let learner = Parrot::new(&["a", "b", "c"]);
        let percent = |text: &str| accuracy(&learner, &data, &tasks, protocol(text), 0).unwrap();
        assert_eq!(percent("instance"), [0.0, 100.0]);
        assert_eq!(percent("task-told"), [50.0, 100.0]);
    }

    #[test]
    fn nonsense_is_refused_with_the_choices() {
        for text in [
            "",
            "batch",
            "task-batch",
            "task-batch=0",
            "task-batch=-1",
            "instance=3",
            "class=all",
        ] {
            let error = text.parse::<Protocol>().unwrap_err().to_string();
            assert!(error.contains("mixed-batch=B"), "{error}");
        }
    }

    fn any_protocol() -> impl Strategy<Value = Protocol> {
        let size = || {
            prop_oneof![
                Just(GroupSize::All),
                (1..50_usize).prop_map(|rows| GroupSize::Rows(NonZeroUsize::new(rows).unwrap())),
            ]
        };
        prop_oneof![
            Just(Protocol::Instance),
            size().prop_map(Protocol::TaskBatch),
            size().prop_map(Protocol::ClassBatch),
            size().prop_map(Protocol::MixedBatch),
            Just(Protocol::TaskTold),
        ]
    }

    proptest! {
        #[test]
        fn text_and_protocol_are_the_same(protocol in any_protocol()) {
            prop_assert_eq!(protocol.to_string().parse::<Protocol>().unwrap(), protocol);
        }

        #[test]
        fn groups_cover_every_row_once(
            protocol in any_protocol(),
            extra in prop::collection::vec(0..6_u32, 0..200),
            seed: u64,
        ) {
            let codes: Vec<u32> = (0..6).chain(extra).collect();
            let data = dataset(6, &codes);
            let tasks = Scenario::Even { classes: None, tasks: NonZeroUsize::new(3).unwrap() }
                .tasks(&data, seed)
                .unwrap();
            let questions = protocol.groups(&data, &tasks, seed).concat();
            let mut rows: Vec<usize> = questions.iter().map(|question| question.row).collect();
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..codes.len()).collect::<Vec<_>>());
            for question in questions {
                prop_assert!(tasks[question.task].test.contains(&question.row));
            }
        }
    }
}
