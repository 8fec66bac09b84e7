"""From a session's logs to one result for the catalogue."""

import statistics
from collections.abc import Sequence
from pathlib import Path

from trainmark.analysis.own_runs import middle
from trainmark.catalogue.naming import names
from trainmark.rules import Score
from trainmark.training.session import Session
from trainmark.types import Result, Run, System

__all__ = ["result_of"]


def result_of(session: Session, runs: Sequence[Run], score: Score, system: System) -> Result:
    """The result of one session, origin "own" and labelled unverified, named as published ones are.

    Args:
        session: What was run.
        runs: One for each log, in order.
        score: Their score.
        system: The machine.
    """
    spec = session.spec
    settings = next((run.settings for run in runs if run.settings), {})
    rates = [run.samples_per_second for run in runs if run.samples_per_second is not None]
    model = system.accelerator_model_name
    return Result(
        id=f"own/{session.machine}/{spec.benchmark}/{session.started}",
        origin="own",
        round=None,
        division=session.division,
        category=names.category(system.status).name,
        submitter=system.submitter,
        system=system.system_name,
        benchmark=spec.benchmark,
        accelerator=names.accelerator(model).name,
        accelerators=system.accelerators,
        nodes=system.number_of_nodes,
        framework=_framework(runs),
        run_minutes=tuple(run.minutes for run in runs if run.minutes in score.run_minutes),
        minutes=score.minutes,
        score_basis=score.basis,
        scaling_factor=1.0,
        global_batch_size=settings.get("global_batch_size"),
        samples_to_target=middle(run.samples_to_target for run in runs if run.succeeded),
        label=spec.label,
        path=str(Path(session.folder).resolve()),
        machine=session.machine,
        recorded=session.started,
        samples_per_second=statistics.median(rates) if rates else None,
        raw={"accelerator": model, "status": system.status},
    )


def _framework(runs: Sequence[Run]) -> str:
    """Framework and version as the first log has them."""
    environment = next((run.environment for run in runs if run.environment), {})
    name = str(environment.get("framework", ""))
    return f"{name} {environment.get(name, '')}".strip()
