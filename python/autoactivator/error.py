"""Exceptions: one for each error of the method and of the evaluation.

The messages are those of the command line. Every exception is an :class:`AutoActivatorError`, and also what
scikit-learn expects: bad input is a :class:`ValueError`, a model that has learned nothing raises a
:class:`sklearn.exceptions.NotFittedError`, and a file that cannot be read raises an :class:`OSError`.

Examples
--------
>>> from autoactivator import Consolidation
>>> from autoactivator.error import AutoActivatorError
>>> try:
...     Consolidation(r=2).partial_fit([[0.0], [1.0]], ["low", "high"])
... except AutoActivatorError as error:
...     print(type(error).__name__, "-", error)
ParameterError - parameter `r` is 2: must be above 0 and below 1
"""

from sklearn.exceptions import NotFittedError


class AutoActivatorError(Exception):
    """Any error of this package."""


class NoFeaturesError(AutoActivatorError, ValueError):
    """Rows without features."""


class RaggedRowsError(AutoActivatorError, ValueError):
    """A number of values that is not a multiple of the row width."""


class NotFiniteError(AutoActivatorError, ValueError):
    """NaN or infinity among the features."""


class TooLargeError(AutoActivatorError, ValueError):
    """A feature value too large to be squared and summed."""


class SumsNotFiniteError(AutoActivatorError, ValueError):
    """Rows whose sums overflow: they are too far from the rows that the pool was made from."""


class LabelCodeError(AutoActivatorError, ValueError):
    """A label code outside its list of names."""


class LengthMismatchError(AutoActivatorError, ValueError):
    """Rows and labels of different length."""


class WeightCountError(AutoActivatorError, ValueError):
    """A number of weights that is not that of the rows."""


class BadWeightError(AutoActivatorError, ValueError):
    """A weight that is negative, not a number or too large."""


class NoUseForWeightsError(AutoActivatorError, ValueError):
    """Weights for a learner that counts every row once."""


class EmptyTaskError(AutoActivatorError, ValueError):
    """A task without rows that weigh anything."""


class TooFewRowsError(AutoActivatorError, ValueError):
    """A class with too few rows to hold some out for validation."""


class RepeatedClassError(AutoActivatorError, ValueError):
    """A class that was already in an earlier task."""


class FeatureCountError(AutoActivatorError, ValueError):
    """Rows whose width differs from that of the rows learned."""


class CannotRejectError(AutoActivatorError, ValueError):
    """An answer "unknown" requested of a model that cannot tell yet."""


class CannotDiscoverError(AutoActivatorError, ValueError):
    """New classes looked for with a model that cannot tell yet what it does not know."""


class CannotDoubtError(AutoActivatorError, ValueError):
    """Labels to be doubted by a model that cannot judge them yet."""


class NothingLearnedError(AutoActivatorError, NotFittedError):
    """A model that has learned nothing yet."""


class ParameterError(AutoActivatorError, ValueError):
    """A parameter out of its range."""


class TooManyCandidatesError(AutoActivatorError, MemoryError):
    """More candidates than fit into memory."""


class NothingRecruitedError(AutoActivatorError, ValueError):
    """A unit that no node could join."""


class NotSolvableError(AutoActivatorError, ArithmeticError):
    """A least-squares solve that did not give finite weights."""


class NoRoomError(AutoActivatorError, MemoryError):
    """A readout that takes more memory than there is."""


class NoDensityError(AutoActivatorError, ArithmeticError):
    """Densities of a unit that are not finite."""


class NoImagesError(AutoActivatorError, ValueError):
    """A pool of image nodes, but rows that are not known to be images."""


class ImageShapeError(AutoActivatorError, ValueError):
    """An image shape that does not fit the rows."""


class NothingToCutError(AutoActivatorError, ValueError):
    """A first task from which the pool cannot be made."""


class DifferentPoolsError(AutoActivatorError, ValueError):
    """Memories over different pools."""


class FixedUnitsError(AutoActivatorError, ValueError):
    """Units that cannot be put together, or not be removed."""


class NoPoolError(AutoActivatorError, ValueError):
    """A partial memory before there is a pool to sum over."""


class AlreadyLearnedError(AutoActivatorError, ValueError):
    """A file that would be learned twice."""


class NeverLearnedError(AutoActivatorError, ValueError):
    """Rows to unlearn that cannot have been learned."""


class NoMemoryError(AutoActivatorError, TypeError):
    """Learning with a model that was deployed without its memory."""


class OnlyConsolidationError(AutoActivatorError, TypeError):
    """Something that only a consolidation model can do, asked of another kind."""


class FixedParameterError(AutoActivatorError, ValueError):
    """A change to a parameter that is fixed in an existing model."""


class UnknownKindError(AutoActivatorError, ValueError):
    """A kind of learner that is not known."""


class NotStorableError(AutoActivatorError, ValueError):
    """A model with a value that its file format cannot hold."""


class NoClassNameError(AutoActivatorError, ValueError):
    """A class without a name."""


class ClassExistsError(AutoActivatorError, ValueError):
    """A new name for a class that another class already has."""


class UnknownClassError(AutoActivatorError, ValueError):
    """A class that the model does not know."""


class InterruptedError(AutoActivatorError):
    """Learning was stopped from outside; nothing was changed. Ctrl-C is a :class:`KeyboardInterrupt` instead."""


class FeatureNamesError(AutoActivatorError, ValueError):
    """Features of other names than those learned."""


class LearnedBeforeError(AutoActivatorError, ValueError):
    """A file whose rows would count twice."""


class UnlearnedBeforeError(AutoActivatorError, ValueError):
    """A file whose rows would be taken away twice."""


class FadedError(AutoActivatorError, ValueError):
    """Rows to be unlearned from sums that have faded since."""


class LockedError(AutoActivatorError, OSError):
    """A model file that another process is changing."""


class NotSyncedError(AutoActivatorError, OSError):
    """A file that was written, but may not survive a power cut."""


class ReplacedError(AutoActivatorError, OSError):
    """A model file that somebody else has replaced or removed since it was read."""


class IoError(AutoActivatorError, OSError):
    """A file that cannot be read or written."""


class BadModelError(AutoActivatorError, ValueError):
    """A file that is not a whole, undamaged model."""


class ServerError(AutoActivatorError):
    """An error that only a server raises: it is busy, it requires a token, or a request is too large.

    Attributes
    ----------
    kind : str
        The name of the error, such as ``"Busy"`` or ``"Unauthorized"``.
    status : int
        The HTTP status.
    retry_after : float or None
        Seconds to wait before trying again.
    """

    def __init__(self, message: str, kind: str, status: int, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after


class LeftOutError(AutoActivatorError, ValueError):
    """A file of a format that this build does not read."""


class BadDataError(AutoActivatorError, ValueError):
    """Rows in a file that cannot be used."""


class NoDatasetError(AutoActivatorError, LookupError):
    """A data set that is not where it was looked for."""


class ExperimentError(AutoActivatorError, ValueError):
    """An experiment that cannot be read or run."""


class NoExperimentError(AutoActivatorError, LookupError):
    """A name that belongs to no published experiment."""


class ScenarioError(AutoActivatorError, ValueError):
    """A scenario, split or protocol that makes no sense for the data."""
