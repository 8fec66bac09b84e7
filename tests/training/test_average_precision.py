import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from trainmark.training.average_precision import average_precision, mean_average_precision

few_scores = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=30)


@given(few_scores, few_scores)
def test_it_is_that_of_scikit_learn_equal_scores_included(
    real: list[float], chance: list[float]
) -> None:
    labels = np.concatenate([np.ones(len(real)), np.zeros(len(chance))])
    wanted = average_precision_score(labels, np.array([*real, *chance]))
    assert average_precision(np.array(real), np.array(chance)) == pytest.approx(wanted)


def test_all_alike_is_chance_and_all_told_apart_is_1() -> None:
    assert average_precision(np.zeros(7), np.zeros(7)) == 0.5
    assert average_precision(np.ones(7), np.zeros(7)) == 1


def test_a_score_that_is_not_a_number_is_not_hidden() -> None:
    assert math.isnan(average_precision(np.array([1.0, np.nan]), np.zeros(2)))


def test_a_smaller_last_batch_counts_as_one() -> None:
    scores = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert mean_average_precision(scores, 2) == pytest.approx((1 + 0.5) / 2)
