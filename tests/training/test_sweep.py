import pytest

from trainmark.training.sweep import parse_sweep
from trainmark.types import UsageError
from trainmark.workloads.resnet50 import DeskSettings


def test_values_are_typed_and_keep_their_order() -> None:
    sweep = parse_sweep("global-batch-size=100, 50", DeskSettings(), [])
    assert (sweep.setting, sweep.values) == ("global_batch_size", (100, 50))
    assert sweep.assignments == ("global_batch_size=100", "global_batch_size=50")
    assert parse_sweep("compile=true,false", DeskSettings(), []).values == (True, False)
    assert parse_sweep("learning_rate=1e-3", DeskSettings(), []).assignments == (
        "learning_rate=0.001",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("global_batch_size", "not of the form name=value,value"),
        ("=1,2", "not of the form"),
        ("epochs=1,,2", "not of the form"),
        ("batch=1,2", "there is no setting 'batch'"),
        ("epochs=1,two", "'two' is not a whole number"),
        ("optimizer=sgd,adam", "'adam' is not allowed"),
        ("width=16,99", "width=99 is not allowed"),
        ("learning_rate=0.1,0.10", "gives learning_rate=0.1 twice"),
        ("micro-batch-size=1,2", "--sweep and --set both give micro_batch_size"),
        ("seed=" + ",".join(map(str, range(51))), "has 51 values"),
    ],
)
def test_a_wrong_value_is_told_before_anything_is_run(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse_sweep(text, DeskSettings(), ["micro_batch_size=20", "global_batch_size=40"])
    assert caught.value.hint
