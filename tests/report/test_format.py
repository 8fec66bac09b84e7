import pytest

from trainmark.report import format as text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0834, "1.083"), (28.685, "28.685"), (395.712, "395.71"), (12345.6, "12,345.6")],
)
def test_minutes_have_the_decimals_that_their_size_bears(value: float, shown: str) -> None:
    assert text.minutes(value) == shown


def test_change_is_signed_and_never_minus_nought() -> None:
    assert text.change(0.0312) == "+3.1 %"
    assert text.change(-0.2) == "-20.0 %"
    assert text.change(-0.0001) == "0.0 %"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.43e11, "143 GFLOP/s"), (9.89e14, "989 TFLOP/s"), (12.0, "12 FLOP/s")],
)
def test_flop_rate_has_an_si_prefix(value: float, shown: str) -> None:
    assert text.flop_rate(value) == shown


def test_counts_and_rates() -> None:
    assert text.count(44000) == "44,000"
    assert text.rate(1234.56) == "1,235"
    assert text.rate(9.876) == "9.88"
    assert text.share(0.1253) == "12.5 %"


def test_moment_is_utc_and_other_text_stays() -> None:
    assert text.moment("2026-11-30T13:15:13+02:00") == "2026-11-30 11:15 UTC"
    assert text.moment("last\tweek") == "last\ufffdweek"


def test_value_text_is_one_line_whatever_the_value() -> None:
    assert (
        text.value_text({"python": "3.11", "x": [1, True, None]}) == "python 3.11; x 1, yes, none"
    )
    assert text.value_text("a\nb") == "a\ufffdb"
    assert text.value_text(0.1 + 0.2) == "0.3"
