//! Everything that can go wrong in the method: each error carries the fact and the remedy.

use std::path::PathBuf;

use crate::words::counted;

/// The name of an error's variant, which is the same on every face: `NotFinite { .. }` is `NotFinite`.
pub fn kind(error: &impl std::fmt::Debug) -> String {
    let debug = format!("{error:?}");
    debug.chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// An error of the method. Its message states the fact and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Rows without features.
    #[error("rows have no features: at least one column is needed")]
    NoFeatures,

    /// A number of values that is not a multiple of the row width.
    #[error("{values} values do not make whole rows of {n_features} features")]
    RaggedRows {
        /// Number of values given.
        values: usize,
        /// Features expected in each row.
        n_features: usize,
    },

    /// NaN or infinity among the features.
    #[error("row {row}, feature {feature} is {value}: remove the row or replace the value with a finite one")]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Feature, from 0.
        feature: usize,
        /// The offending value.
        value: f32,
    },

    /// A feature value that is too large to be squared and summed.
    #[error(
        "row {row}, feature {feature} is {value:e}: values may be at most 1e15 in magnitude; scale the features"
    )]
    TooLarge {
        /// Row, from 0.
        row: usize,
        /// Feature, from 0.
        feature: usize,
        /// The offending value.
        value: f32,
    },

    /// Rows whose sums overflow: they are too far from those that the pool was made from.
    #[error(
        "the sums over these rows are not finite: some features are far larger than in the first task; \
         scale all tasks the same way"
    )]
    SumsNotFinite,

    /// A label code outside its list of names.
    #[error("row {row} has label code {code}, but there are only {n_names} class names")]
    LabelCode {
        /// Row, from 0.
        row: usize,
        /// The code.
        code: u32,
        /// Length of the list of names.
        n_names: usize,
    },

    /// Different numbers of rows and labels.
    #[error("{} but {}: each row needs exactly one label", counted(*rows, "row"), counted(*labels, "label"))]
    LengthMismatch {
        /// Number of rows.
        rows: usize,
        /// Number of labels.
        labels: usize,
    },

    /// A number of weights that is not that of the rows.
    #[error("{} for {}: give one weight per row", counted(*weights, "weight"), counted(*rows, "row"))]
    WeightCount {
        /// Number of rows.
        rows: usize,
        /// Number of weights.
        weights: usize,
    },

    /// A weight that no row can have.
    #[error(
        "row {row} weighs {weight}: a weight says how often the row counts; make it a number from 0 to 1e15"
    )]
    BadWeight {
        /// Row, from 0.
        row: usize,
        /// Its weight.
        weight: f64,
    },

    /// Weights for a learner that has no use for them.
    #[error(
        "this learner counts every row once: leave the weights out, or choose consolidation, which uses them"
    )]
    NoUseForWeights,

    /// A task without rows.
    #[error("task {task} has no rows, or only rows of zero weight: there is nothing to learn")]
    EmptyTask {
        /// Task, from 1.
        task: usize,
    },

    /// A class with too few rows to keep some for validation.
    #[error("class '{class}' has only {}: at least 2 are needed while `validation` is above 0", counted(*rows, "row"))]
    TooFewRows {
        /// The class.
        class: String,
        /// Its number of rows.
        rows: usize,
    },

    /// A class that an earlier task has already brought.
    #[error(
        "class '{class}' was already learned in task {task}: set `repeated_classes` to `accept` to grow \
         another unit for it (both units then compete), or leave its rows out"
    )]
    RepeatedClass {
        /// The class.
        class: String,
        /// Task that brought it, from 1.
        task: usize,
    },

    /// Rows of a different width than those learned.
    #[error("rows have {}, the model was learned with {expected}", counted(*found, "feature"))]
    FeatureCount {
        /// Features of the model.
        expected: usize,
        /// Features of the rows.
        found: usize,
    },

    /// Features of other names than those learned.
    #[error(
        "the features have other names than the model's (missing: {missing}; not among them: {other}): \
         choose the columns by name"
    )]
    FeatureNames {
        /// Features of the model that the rows lack.
        missing: String,
        /// Features of the rows that the model lacks.
        other: String,
    },

    /// "Unknown" requested of a model that cannot tell yet which rows are unlike those it knows.
    #[error("cannot answer \"unknown\" yet: {reason}, or leave out `reject`")]
    CannotReject {
        /// What is missing, and the remedy.
        reason: &'static str,
    },

    /// New classes looked for with a model that cannot tell yet which rows are unlike those it knows.
    #[error("cannot discover new classes: {reason}")]
    CannotDiscover {
        /// What is missing, and the remedy.
        reason: &'static str,
    },

    /// Labels to be doubted by a model that cannot judge them yet.
    #[error("cannot judge labels: {reason}")]
    CannotDoubt {
        /// What is missing, and the remedy.
        reason: &'static str,
    },

    /// A prediction before anything was learned.
    #[error("nothing has been learned yet: learn a task first")]
    NothingLearned,

    /// A parameter out of its range.
    #[error("parameter `{name}` is {value}: {allowed}")]
    Parameter {
        /// Name of the parameter.
        name: String,
        /// The value given.
        value: String,
        /// What is allowed.
        allowed: String,
    },

    /// More candidate outputs than fit into memory.
    #[error(
        "{rows} rows and {candidates} candidate nodes a step need more than {limit_gb} GB: \
         lower `t_max` or `step_size`, or learn fewer rows at a time"
    )]
    TooManyCandidates {
        /// Rows of the task.
        rows: usize,
        /// Candidate nodes of a step, T_max · l.
        candidates: usize,
        /// Gigabytes allowed.
        limit_gb: usize,
    },

    /// A unit that no node joined.
    #[error("no node reduces the residual of task {task}: scale the features, or try other `scopes`")]
    NothingRecruited {
        /// Task, from 1.
        task: usize,
    },

    /// A least-squares solve that did not give finite weights.
    #[error("output weights of {place} are not finite: raise `ridge` (now {ridge}) or scale the features")]
    NotSolvable {
        /// Which unit or readout.
        place: String,
        /// The ridge constant in use.
        ridge: f64,
    },

    /// Densities of a unit that are not finite.
    #[error("the densities of unit {task} are not finite: scale the features, or set `gate` to `threshold`")]
    NoDensity {
        /// Task of the unit, from 1.
        task: usize,
    },

    /// Image nodes for rows that are not declared to be images.
    #[error("`{kind}` needs images: give their shape with `image`, like 28x28, or leave it out")]
    NoImages {
        /// The pool.
        kind: &'static str,
    },

    /// An image shape that does not fit the rows.
    #[error("images of {shape} do not fit rows of {}", counted(*n_features, "feature"))]
    ImageShape {
        /// The shape.
        shape: String,
        /// Features of a row.
        n_features: usize,
    },

    /// A first task without what the pool is made from.
    #[error(
        "the first task has no {what} to make a pool from: begin with a task that has them, or choose another pool"
    )]
    NothingToCut {
        /// What was looked for.
        what: &'static str,
    },

    /// Memories over different pools.
    #[error("the memories have different pools ({reason}): only memories over one pool can be merged")]
    DifferentPools {
        /// What differs.
        reason: String,
    },

    /// Units that cannot be put together, or not be removed.
    #[error("units cannot be added or removed: {reason}")]
    FixedUnits {
        /// Why not.
        reason: String,
    },

    /// A partial memory requested before there is a pool to sum over.
    #[error("there is no pool yet: make it from a sample of rows first")]
    NoPool,

    /// A file that would be learned twice.
    #[error(
        "{file} has already been learned, and a sum cannot be taken apart: sum the other files again without it, or \
         name the model that both memories began from"
    )]
    AlreadyLearned {
        /// Name of the file.
        file: String,
    },

    /// A file whose rows would count twice.
    #[error(
        "{file}: this file was already learned ({before}): nothing has changed; to count its rows once more, \
         set `again`"
    )]
    LearnedBefore {
        /// Name of the file.
        file: String,
        /// When it was learned, and under which name.
        before: String,
    },

    /// A file whose rows would be taken away twice.
    #[error(
        "{file}: this file was already unlearned ({before}): nothing has changed; to take its rows away once \
         more, set `again`"
    )]
    UnlearnedBefore {
        /// Name of the file.
        file: String,
        /// Under which name it was unlearned.
        before: String,
    },

    /// Unlearning from sums that have faded since.
    #[error(
        "this model fades old evidence (`fading` is {fading}), and how much of these rows is left in its sums is not \
         recorded: rows cannot be taken away exactly; begin a model with `fading` 1, or drop the class"
    )]
    Faded {
        /// The parameter.
        fading: f64,
    },

    /// Rows to unlearn that were provably never learned.
    #[error("these rows cannot have been learned ({reason}): the memory is as it was before")]
    NeverLearned {
        /// What proves it.
        reason: String,
    },

    /// An attempt to teach a model that was deployed without its memory.
    #[error("a deployed model cannot learn: use the file with its memory")]
    NoMemory,

    /// An operation that only a consolidation model supports, requested of another kind.
    #[error("a {learner} model cannot {what}: only a consolidation model can")]
    OnlyConsolidation {
        /// The kind of the model.
        learner: String,
        /// What was asked.
        what: String,
    },

    /// A fixed parameter of an existing model.
    #[error(
        "parameter `{name}` is {value} in this model and cannot be changed: leave it out, or begin a new model"
    )]
    FixedParameter {
        /// Name of the parameter.
        name: String,
        /// Its value in the model.
        value: String,
    },

    /// An unknown kind of learner.
    #[error("there is no learner called '{kind}': known kinds are {known}")]
    UnknownKind {
        /// The kind.
        kind: String,
        /// All known kinds.
        known: String,
    },

    /// A model with a value that its file cannot hold.
    #[error("the model cannot be stored: {reason}")]
    NotStorable {
        /// What cannot be stored, and the remedy.
        reason: String,
    },

    /// An unknown class.
    #[error("class '{class}' is not known: the model knows {known}")]
    UnknownClass {
        /// The class.
        class: String,
        /// All known classes.
        known: String,
    },

    /// An empty class name.
    #[error("a class has no name: give it one")]
    NoClassName,

    /// A new name for a class that another class already has.
    #[error("there is already a class '{class}': choose another name, or drop that class first")]
    ClassExists {
        /// The name.
        class: String,
    },

    /// Learning was stopped from outside; nothing has changed.
    #[error("interrupted: the model is as it was before")]
    Interrupted,

    /// A readout that takes more memory than there is; nothing has changed.
    #[error(
        "{} and {} would take about {gigabytes} GB to be solved, more than there is: learn fewer classes, or begin with fewer \
         nodes or witnesses", counted(*n_classes, "class"), counted(*n_nodes, "node")
    )]
    NoRoom {
        /// Number of classes.
        n_classes: usize,
        /// Number of nodes that are read.
        n_nodes: usize,
        /// Memory that the solve would take.
        gigabytes: u64,
    },

    /// A model file that another process is currently changing.
    #[error("{}: {holder}: stop it, or wait until it is done", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// Who holds the file and for how long, as far as that is known.
        holder: String,
    },

    /// A file that has its name, but the system could not say that the name is on the disk.
    #[error(
        "{}: it was written, but the system could not confirm that it will survive a power cut ({cause}): look at the disk, \
         and start again", path.display()
    )]
    NotSynced {
        /// The file.
        path: PathBuf,
        /// What the system reported.
        #[source]
        cause: std::io::Error,
    },

    /// A model file that is no longer the one that was read, so that writing would undo what somebody else did.
    #[error(
        "{}: somebody else has replaced or removed it since it was read: nothing was written. Start again to go on from \
         what is there now", path.display()
    )]
    Replaced {
        /// The file.
        path: PathBuf,
    },

    /// A model file that cannot be read or written.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system reported.
        #[source]
        cause: std::io::Error,
    },

    /// A file that is not a complete, undamaged model.
    #[error("{}: not a usable model file: {reason}", path.display())]
    BadModel {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and the remedy.
        reason: String,
    },
}
