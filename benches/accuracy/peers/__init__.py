"""The entrants, by their names on the command line."""

from .joint import Forest, Lda, Logistic, Svm
from .neighbours import Neighbours
from .ours import AutoActivator
from .random_nodes import Klda, RanPac
from .streams import NearestMean, Sgd, StreamingLda

OURS = "autoactivator"

ENTRANTS = {
    OURS: AutoActivator,
    "ranpac": RanPac,
    "klda": Klda,
    "slda": StreamingLda,
    "nearest-mean": NearestMean,
    "sgd": Sgd,
    "knn": Neighbours,
    "logistic": Logistic,
    "svm": Svm,
    "lda": Lda,
    "forest": Forest,
}
