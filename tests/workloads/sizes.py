"""Settings under which prepared desk data is small, so that tests can make it in a second."""

SMALL: dict[str, tuple[str, ...]] = {
    "bert": ("translations=kjv", "vocabulary=300", "vocabulary_verses=1000"),
    "rnnt": ("utterances=50", "held_out=10", "global_batch_size=4"),
    "schnet": ("molecules=24", "global_batch_size=8"),
}
