"""An Avalanche strategy: a frozen torch model computes features, a learner of this package learns from them.

Needs ``avalanche-lib`` and ``torch``, which nothing else here does: ``pip install autoactivator[avalanche]``.
"""

import numpy as np
import torch
from avalanche.training.templates import SupervisedTemplate

LEAST = 1e-12
"""What is told instead of a probability of 0, whose logarithm no loss could digest."""


class Incremental(SupervisedTemplate):
    """Learns each experience as one task, in one pass, by ``partial_fit`` on the features of a frozen model.

    Parameters
    ----------
    backbone : torch.nn.Module
        Turns a batch of inputs into features; it is not trained. What has more than two dimensions is flattened.
    learner : Consolidation or Reactivation
        Learns from the features.
    **template
        What every strategy of Avalanche takes: ``train_mb_size``, ``eval_mb_size``, ``device``, ``plugins``,
        ``evaluator``.

    Notes
    -----
    Rows are learned after all of them have gone by, so that metrics of training batches have nothing to show; those of
    evaluation are as usual. ``mb_output`` holds logarithms of probabilities, one column for each label.

    Examples
    --------
    >>> from autoactivator import Consolidation
    >>> from autoactivator.avalanche import Incremental
    >>> strategy = Incremental(backbone=backbone, learner=Consolidation())  # doctest: +SKIP
    >>> for experience in benchmark.train_stream:  # doctest: +SKIP
    ...     strategy.train(experience)
    ...     strategy.eval(benchmark.test_stream)
    """

    def __init__(self, *, backbone, learner, **template):
        super().__init__(
            model=backbone, optimizer=None, criterion=torch.nn.CrossEntropyLoss(), train_epochs=1, **template
        )
        self.learner = learner

    def make_optimizer(self, **_):
        """There is nothing to optimise."""

    def training_epoch(self, **_):
        """Compute the features of all rows, then learn them."""
        features, labels = [], []
        for self.mbatch in self.dataloader:
            self._unpack_minibatch()
            features.append(self.features())
            labels.append(self.mb_y.cpu().numpy())
        self.learner.partial_fit(np.concatenate(features), np.concatenate(labels))

    def features(self):
        """The features of the current batch.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            What the frozen model makes of it.
        """
        self.model.eval()
        with torch.no_grad():
            features = self.model(self.mb_x)
        return features.detach().cpu().numpy().reshape(len(self.mb_y), -1)

    def forward(self):
        """What is known about the current batch.

        Returns
        -------
        torch.Tensor of shape (n_samples, n_labels)
            Logarithms of probabilities; the least where a label has not been learned.
        """
        known = getattr(self.learner, "classes_", np.empty(0, dtype=int))
        n_labels = 1 + max(int(self.mb_y.max()), *known.tolist(), 0)
        probabilities = np.full((len(self.mb_y), n_labels), LEAST, dtype=np.float32)
        if len(known):
            probabilities[:, known] = np.maximum(self.learner.predict_proba(self.features()), LEAST)
        return torch.as_tensor(np.log(probabilities), device=self.device)
