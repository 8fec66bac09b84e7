import sys

import pytest

from trainmark.training import plugins
from trainmark.types import UsageError


@pytest.mark.usefixtures("toy_plugin")
def test_a_strangers_workload_is_found_beside_the_built_in_ones() -> None:
    assert {"resnet50", "toy"} <= set(plugins.workload_names())
    assert plugins.workload("toy").title == "Two clouds"
    assert plugins.framework("plain").name == "plain"


@pytest.mark.usefixtures("toy_plugin")
def test_a_broken_plugin_says_why_and_breaks_nothing_else() -> None:
    found = {(p.kind, p.name): p for p in plugins.plugins()}
    assert "ABSENT" in found["workload", "broken"].problem
    assert found["workload", "broken"].loaded is None
    assert found["workload", "resnet50"].problem == ""


def test_an_unknown_workload_lists_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="no workload 'resnet5'") as caught:
        plugins.workload("resnet5")
    assert "Did you mean 'resnet50'?" in caught.value.hint


def test_a_missing_framework_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "trainmark.training.frameworks.torch", raising=False)
    with pytest.raises(UsageError, match="needs the package 'torch'") as caught:
        plugins.framework("torch")
    assert caught.value.hint == "Install it: pip install 'trainmark[torch]'"
    with pytest.raises(UsageError) as caught:  # no second trip for what else the workload needs
        plugins.framework("torch", "tgn")
    assert caught.value.hint == "Install it: pip install 'trainmark[tgn]'"
