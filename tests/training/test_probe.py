import pytest

from trainmark.training import plugins
from trainmark.training.probe import probe
from trainmark.training.settings import change


@pytest.mark.usefixtures("toy_plugin")
def test_only_what_the_device_can_do_is_tried() -> None:
    workload, framework = plugins.workload("toy"), plugins.framework("plain")
    found = probe(workload, framework, "desk", workload.scales["desk"](), None)
    assert found.candidates == ()  # one precision, one layout, one thread count: nothing to decide
    assert (found.settings.precision, found.settings.threads) == ("fp32", 1)
    assert set(found.unusable) == {"bf16", "fp16"}
    assert found.matmul_peak == 1e9


@pytest.mark.usefixtures("toy_plugin")
def test_the_fastest_candidate_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    workload, framework = plugins.workload("toy"), plugins.framework("plain")
    rates = iter([100.0, 300.0])
    monkeypatch.setattr("trainmark.training.probe._rate", lambda *_: next(rates))
    settings = change(workload.scales["desk"](), ["memory_format=auto"])
    found = probe(workload, framework, "desk", settings, None)
    assert [c.samples_per_second for c in found.candidates] == [300.0, 100.0]
    assert found.settings.memory_format == "channels_last"
