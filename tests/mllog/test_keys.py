from mlperf_logging.mllog import constants

from trainmark.mllog import keys


def test_the_official_keys_are_the_official_ones() -> None:
    ours = {
        name: value
        for name, value in vars(keys).items()
        if name.isupper() and not name.startswith(("OWN_", "EFFICIENCY_"))
    }
    official = {name: getattr(constants, name) for name in ours if hasattr(constants, name)}
    assert len(official) > 25
    assert {name: ours[name] for name in official} == official
    assert ours.keys() - official.keys() <= {
        "EVAL_ERROR",
        "THROUGHPUT",
        "TRACKED_STATS",
        "TRAIN_LOSS",
    }


def test_our_own_keys_are_told_apart() -> None:
    own = [value for name, value in vars(keys).items() if name.startswith("OWN_")]
    assert len(own) == len(set(own)) >= 5
    assert all(value.startswith("trainmark_") for value in own)
