"""Every metric against a value worked out by hand."""

import numpy as np
import pytest

import metrics
import splits


def test_accuracy_counts_rows_and_by_class_counts_classes():
    truth, answers = np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0])
    assert metrics.accuracy(truth, answers) == 0.75
    assert metrics.by_class(truth, answers) == 0.5


def test_calibration_error():
    # Bins are 1/15 wide. 0.92 and 0.90 share one (claimed 1.82, right 1), 0.62 has one alone (claimed 0.62, right 1).
    proba = np.array([[0.92, 0.08], [0.10, 0.90], [0.62, 0.38]])
    assert metrics.calibration_error(np.array([0, 0, 0]), proba) == pytest.approx((0.82 + 0.38) / 3)


def test_a_sure_and_right_answer_has_no_calibration_error():
    assert metrics.calibration_error(np.array([1]), np.array([[0.0, 1.0]])) == 0


def test_log_loss_is_clipped():
    proba = np.array([[0.5, 0.5], [1.0, 0.0]])
    assert metrics.log_loss(np.array([0, 1]), proba) == pytest.approx((np.log(2) - np.log(1e-12)) / 2)


def test_auroc_counts_pairs():
    # Of the six pairs, 3 beats all of 1, 2 and 2; 2 beats 1 and draws twice.
    assert metrics.auroc(np.array([1.0, 2.0, 2.0]), np.array([3.0, 2.0])) == pytest.approx((3 + 1 + 2 * 0.5) / 6)
    assert metrics.auroc(np.zeros(3), np.ones(2)) == 1
    assert metrics.auroc(np.zeros(3), np.zeros(2)) == 0.5


def test_false_positives_at_95_percent():
    known = np.arange(20.0)  # 19 of 20 rows are at most 18
    assert metrics.false_positives(known, np.array([17.0, 18.0, 18.5, 30.0])) == 0.5


def test_harmonic_mean():
    assert metrics.harmonic_mean(0.6, 0.3) == pytest.approx(0.4)
    assert metrics.harmonic_mean(0.0, 0.0) == 0


def test_ranks_share_places():
    assert metrics.ranks([0.9, 0.7, 0.9, 0.5], high_is_good=True).tolist() == [1.5, 3, 1.5, 4]
    assert metrics.ranks([0.1, 0.3], high_is_good=False).tolist() == [1, 2]


def test_held_out_rows_are_a_share_of_every_class():
    y = np.repeat([0, 1, 2], [8, 4, 1])
    marks = splits.held_out(y, 1 / 4, seed=0)
    assert [int(marks[y == code].sum()) for code in range(3)] == [2, 1, 0]
    assert (marks == splits.held_out(y, 1 / 4, seed=0)).all()


@pytest.mark.parametrize(
    "n_classes, split, n_tasks", [(100, "10", 10), (43, "10", 10), (7, "10", 7), (43, "classes", 43), (43, "1", 1)]
)
def test_every_class_is_in_one_task(n_classes, split, n_tasks):
    tasks = splits.tasks(n_classes, 3, split)
    assert len(tasks) == n_tasks
    assert sorted(np.concatenate(tasks)) == list(range(n_classes))
