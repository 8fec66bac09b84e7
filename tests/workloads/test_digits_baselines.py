import pytest

from tests.docs.examples import DOCS
from tests.workloads.digits_baselines import accuracies
from trainmark.training import plugins


@pytest.fixture(scope="module")
def found() -> dict[str, float]:
    return accuracies()


@pytest.mark.parametrize("name", ["efficientnet_b4", "resnet50"])
def test_the_page_prints_what_simple_methods_reach(name: str, found: dict[str, float]) -> None:
    page = (DOCS / "workloads" / f"{name}.md").read_text("utf-8")
    for method, accuracy in found.items():
        assert f"| {method} | {100 * accuracy:.1f} % |" in page


@pytest.mark.parametrize("name", ["efficientnet_b4", "resnet50"])
def test_the_target_lies_above_them_all(name: str, found: dict[str, float]) -> None:
    """With at most two thirds of the errors of any but the support-vector machine."""
    workload = plugins.workload(name)
    target = workload.spec("desk", workload.scales["desk"](), None).target.value
    others = [accuracy for method, accuracy in found.items() if "machine" not in method]
    assert target > max(found.values())
    assert 1 - target < 2 / 3 * (1 - max(others))
