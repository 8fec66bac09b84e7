from collections.abc import Mapping

import pytest

from tests.rules.failures import CASES, PAGE, blocks, output_of

_SAID: Mapping[str, tuple[str, ...]] = {
    "tensors": ("weights_initialization", "changed on 2022-04-01, after round 1.1"),
    "renamed": ("Rename opt_epsilon to opt_lamb_epsilon.", "after round 2.1 was published"),
    "missing": ("expected exactly one submission_entry, found none", "Log submission_entry once"),
    "order": ("line 24", "Log block_stop before block_start."),
    "value": ("line 8", "the value is null", "Log cache_clear so that the value is true."),
    "aborted": ('status "aborted"', "the last quality is 0.7581", "at least 0.759", "run it again"),
    "epoch": ("line 29", "is 4, the epoch_num of the last eval_start is 2"),
    "choice": ('one of "sgd", "lars"; the value is "adam"',),
    "type": ('the value is "True"', "true or false, not in quotes"),
    "cut_short": ("the log ends at line 42", "9.00 minutes after run_start", "run it again"),
    "broken_line": ("line 14", "stands on line 14, which cannot be read"),
    "slow_start": ("it took 52.80 minutes, 22.80 over the limit of 30",),
    "no_log": ("there is no readable record in the file",),
}


@pytest.fixture(scope="module")
def page() -> dict[str, str]:
    return blocks(PAGE.read_text(encoding="utf-8"))


def test_the_page_shows_every_case(page: dict[str, str]) -> None:
    assert set(page) == set(CASES) == set(_SAID)


@pytest.mark.parametrize("name", CASES)
def test_the_page_is_what_the_command_prints(name: str, page: dict[str, str]) -> None:
    output = output_of(CASES[name])
    assert output == page[name], "write the page anew: python -m tests.rules.failures"


@pytest.mark.parametrize("name", CASES)
def test_one_knows_what_to_do(name: str, page: dict[str, str]) -> None:
    for words in _SAID[name]:
        assert words in page[name]
    assert "Not valid: 1 of 1 log has errors" in page[name]


def test_words_of_the_rule_tables_are_not_shown(page: dict[str, str]) -> None:
    for text in page.values():
        for internal in ("in_block", "in_epoch", "last_eval", "initialized_tensors", "sgd_decay"):
            assert internal not in text
