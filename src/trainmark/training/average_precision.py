"""Average precision of links that are to be told from chance."""

import numpy as np
import numpy.typing as npt

__all__ = ["average_precision", "mean_average_precision"]

Floats = npt.NDArray[np.floating]


def average_precision(real: Floats, chance: Floats) -> float:
    """Mean precision over the real links, each at the score that it takes to find it.

    Links of equal score are found together, so a rule that scores all alike gets the share of real
    links. A score that is not a number makes the result one.

    Args:
        real: Scores of the real links.
        chance: Scores of the others.
    """
    scores = np.concatenate([real, chance])
    if np.isnan(scores).any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    found = np.cumsum(order < len(real))
    ordered = scores[order]
    last_of_equals = np.append(ordered[1:] != ordered[:-1], True)
    found, looked_at = found[last_of_equals], np.flatnonzero(last_of_equals) + 1
    return float((np.diff(found, prepend=0) * (found / looked_at)).sum() / len(real))


def mean_average_precision(scores: Floats, size: int) -> float:
    """The plain mean of the average precisions of batches, a smaller last one included.

    Args:
        scores: Of real links and of the chance link beside each, (2, links).
        size: Links of a batch.
    """
    starts = range(0, scores.shape[1], size)
    return float(np.mean([average_precision(*scores[:, i : i + size]) for i in starts]))
