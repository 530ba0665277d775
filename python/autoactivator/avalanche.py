"""An Avalanche strategy: a frozen torch model computes features, and a learner of this package learns from them.

Only this module needs ``avalanche-lib`` and ``torch``: ``pip install autoactivator[avalanche]``.
"""

from typing import Any

import numpy as np
import torch
from avalanche.training.templates import SupervisedTemplate
from numpy.typing import NDArray

from .learner import Learner

LEAST = 1e-12
"""Replaces a probability of 0, whose logarithm is not finite."""


class Incremental(SupervisedTemplate):
    """Learns each experience as one task, with one ``partial_fit`` on the features of a frozen model.

    Parameters
    ----------
    backbone : torch.nn.Module
        Turns a batch of inputs into features. It is not trained. Outputs of more than two dimensions are flattened.
    learner : Consolidation or Reactivation
        Learns from the features.
    **template
        Arguments of every Avalanche strategy: ``train_mb_size``, ``eval_mb_size``, ``device``, ``plugins``,
        ``evaluator``.

    Notes
    -----
    Rows are learned after all batches have been read, so metrics on training batches show nothing. Evaluation metrics
    work as usual. ``mb_output`` holds logarithms of probabilities, one column per label.

    Examples
    --------
    >>> from autoactivator import Consolidation
    >>> from autoactivator.avalanche import Incremental
    >>> strategy = Incremental(backbone=backbone, learner=Consolidation())  # doctest: +SKIP
    >>> for experience in benchmark.train_stream:  # doctest: +SKIP
    ...     strategy.train(experience)
    ...     strategy.eval(benchmark.test_stream)
    """

    def __init__(self, *, backbone: "torch.nn.Module", learner: Learner, **template: Any) -> None:
        super().__init__(
            model=backbone, optimizer=None, criterion=torch.nn.CrossEntropyLoss(), train_epochs=1, **template
        )
        self.learner = learner

    def make_optimizer(self, **_: Any) -> None:
        """Do nothing: there is nothing to optimise."""

    def training_epoch(self, **_: Any) -> None:
        """Compute the features of all rows, then learn them."""
        features, labels = [], []
        for self.mbatch in self.dataloader:
            self._unpack_minibatch()
            features.append(self.features())
            labels.append(self.mb_y.cpu().numpy())
        self.learner.partial_fit(np.concatenate(features), np.concatenate(labels))

    def features(self) -> NDArray[np.float32]:
        """The features of the current batch.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The output of the frozen model.
        """
        self.model.eval()
        with torch.no_grad():
            features = self.model(self.mb_x)
        return features.detach().cpu().numpy().reshape(len(self.mb_y), -1)

    def forward(self) -> "torch.Tensor":
        """Predict the current batch.

        Returns
        -------
        torch.Tensor of shape (n_samples, n_labels)
            Logarithms of probabilities; the smallest value for labels that have not been learned.
        """
        known = getattr(self.learner, "classes_", np.empty(0, dtype=int))
        n_labels = 1 + max(int(self.mb_y.max()), *known.tolist(), 0)
        probabilities = np.full((len(self.mb_y), n_labels), LEAST, dtype=np.float32)
        if len(known):
            probabilities[:, known] = np.maximum(self.learner.predict_proba(self.features()), LEAST)
        return torch.as_tensor(np.log(probabilities), device=self.device)
