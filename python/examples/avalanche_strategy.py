"""The classes of scikit-learn's digits arrive in five experiences. A frozen torch model computes features; we learn.

Needs ``pip install autoactivator[avalanche]``. Run it with ``python python/examples/avalanche_strategy.py``.
"""

import torch
from avalanche.benchmarks import nc_benchmark
from avalanche.benchmarks.utils import AvalancheDataset, DataAttribute
from avalanche.evaluation.metrics import accuracy_metrics
from avalanche.training.plugins import EvaluationPlugin
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import TensorDataset

from autoactivator import Consolidation
from autoactivator.avalanche import Incremental


def dataset(X, y):
    """Rows and labels in the form that Avalanche expects."""
    rows = TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y))
    return AvalancheDataset([rows], data_attributes=[DataAttribute(y.tolist(), name="targets", use_in_getitem=False)])


def main():
    torch.manual_seed(0)
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y, random_state=0)
    benchmark = nc_benchmark(dataset(X, y), dataset(X_test, y_test), n_experiences=5, task_labels=False, seed=0)
    backbone = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU())
    evaluator = EvaluationPlugin(accuracy_metrics(stream=True), loggers=[])
    learner = Consolidation()
    strategy = Incremental(backbone=backbone, learner=learner, train_mb_size=256, eval_mb_size=256, evaluator=evaluator)
    for experience in benchmark.train_stream:
        strategy.train(experience)
        print("learned", sorted(experience.classes_in_this_experience))
    results = strategy.eval(benchmark.test_stream)
    accuracy = next(value for name, value in results.items() if name.startswith("Top1_Acc_Stream"))
    print(f"accuracy on all ten classes, each row alone: {100 * accuracy:.2f} %")


if __name__ == "__main__":
    main()
