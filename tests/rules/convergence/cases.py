"""Reference points and measured runs that tests make up."""

from collections.abc import Mapping, Sequence

from trainmark.rules.convergence.measured import Measured
from trainmark.rules.convergence.points import References, left_out, make_points
from trainmark.rules.rulesets import Ruleset, ruleset_named

ROUND_5 = ruleset_named("5.0")
ROUND_4 = ruleset_named("4.0")


def made_up(
    records: Mapping[float, Sequence[float]], *, benchmark: str = "bert", runs: int = 10
) -> References:
    """References from runs by batch size."""
    return References(
        benchmark=benchmark,
        title="a made-up round",
        points=make_points(records, benchmark=benchmark, runs=runs),
        runs=runs,
        left_out=left_out(benchmark),
        slack=0.0,
        unit="samples",
    )


def runs_of(
    amounts: Sequence[float | None], *, batch_size: float | None = 4096, benchmark: str = "resnet"
) -> list[Measured]:
    """One log each; None is a run that did not converge."""
    return [
        Measured(
            path=f"folder/result_{number}.txt",
            benchmark=benchmark,
            batch_size=batch_size,
            batch_line=3,
            converged=amount is not None,
            amount=amount,
            line_no=90,
        )
        for number, amount in enumerate(amounts)
    ]


def published(ruleset: Ruleset, benchmark: str) -> References:
    """The installed references, which must be there."""
    from trainmark.rules.convergence import references

    found = references(ruleset, benchmark)
    assert found is not None
    return found
