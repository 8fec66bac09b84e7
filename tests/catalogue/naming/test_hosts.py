import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.catalogue.naming.hosts import HostProcessor, host_processor


@pytest.mark.parametrize(
    ("raw", "name", "number"),
    [
        ("Intel(R) Xeon(R) Platinum 8480C", "Intel Xeon Platinum 8480C", None),
        ("INTEL(R) XEON(R) PLATINUM 8592+", "Intel Xeon Platinum 8592+", None),
        ("Intel(R) Xeon(R) Platinum 8490H CPU @ 1.90GHz", "Intel Xeon Platinum 8490H", None),
        ("Intel(R)Xeon(R)Platinum 8490H", "Intel Xeon Platinum 8490H", None),
        ("2x Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz", "Intel Xeon E5-2698 v4", 2),
        ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7763", None),
        ("AMD EYPC 7513", "AMD EPYC 7513", None),
        (" Intel(R) Xeon(R) Platinum 8481C", "Intel Xeon Platinum 8481C", None),
        ("Neoverse-V2", "Neoverse-V2", None),
        ("CPUName", "", None),
        ("TODO", "", None),
        ("", "", None),
    ],
)
def test_one_spelling_for_each_processor(raw: str, name: str, number: int | None) -> None:
    assert host_processor(raw) == HostProcessor(name, number)


@given(st.text(max_size=60))
def test_naming_twice_is_naming_once(raw: str) -> None:
    once = host_processor(raw).name
    assert host_processor(once).name == once
