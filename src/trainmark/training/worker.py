"""The process that trains: one per run, started by ``training.session``.

    python -m trainmark.training.worker < request

It reads one request, answers with messages on standard output (``training.messages``) and ends.
A fresh process for every run means that no run inherits memory, caches or threads of another.
"""

import dataclasses
import math
import os
import platform
import signal
import sys
from collections.abc import Mapping
from time import monotonic
from types import FrameType
from typing import Any, BinaryIO

from trainmark import __version__
from trainmark.mllog import LogWriter
from trainmark.training import loop, plugins
from trainmark.training.cache import flush_caches
from trainmark.training.init_limit import LIMIT_MINUTES, InitLimit
from trainmark.training.log_observer import LogObserver
from trainmark.training.messages import Request, send
from trainmark.training.moments import Built, Evaluated, Moment, RunStarted, RunStopped, Stepped
from trainmark.training.prepared import Tell
from trainmark.training.probe import examine, probe
from trainmark.training.settings import Settings, change
from trainmark.training.task import TaskRequest, Workload
from trainmark.types import InterruptedRunError, TrainmarkError, UsageError, unknown_name

__all__ = ["Progress", "main"]

_SECONDS_BETWEEN_MESSAGES = 0.25


class _Stopped(BaseException):
    """A signal asked the run to stop. Not an Exception: nobody on the way may swallow it."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number


def main() -> int:
    """Carry out the request on standard input; the exit status."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not mix with the messages
    request = Request.decode(sys.stdin.buffer.readline())
    _listen()
    try:
        _answer(request, answers)
    except TrainmarkError as error:
        _send_error(answers, error)
        return error.exit_code
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == __package__.partition(".")[0]:
            raise  # a part of trainmark itself: a fault
        missing = plugins.missing_package(
            f"workload {request.workload!r}", error, wanted=request.workload
        )
        _send_error(answers, missing)
        return missing.exit_code
    except _Stopped as stop:
        where = f"; its log is {request.log}" if request.log else ""
        stopped = InterruptedRunError(f"{stop}{where}", signal_number=stop.number)
        _send_error(answers, stopped)
        return stopped.exit_code
    return 0


def _answer(request: Request, answers: BinaryIO) -> None:
    chosen: Workload = plugins.workload(request.workload)
    if request.scale not in chosen.scales:
        raise unknown_name(f"scale of {chosen.name}", request.scale, chosen.scales)
    defaults = chosen.scales[request.scale]()
    if request.mode == "check":
        _check(chosen, request, defaults, answers)
    elif request.mode == "probe":
        _probe(chosen, request, defaults, answers)
    else:
        _train(chosen, request, dataclasses.replace(defaults, **request.settings), answers)


def _check(chosen: Workload, request: Request, defaults: Settings, answers: BinaryIO) -> None:
    framework = plugins.framework(chosen.framework, chosen.name)
    for variant in request.variants:
        settings = change(defaults, [*request.assignments, variant])
        try:
            examine(
                chosen,
                framework,
                request.scale,
                settings,
                request.data,
                division=request.division,
                tell=_teller(answers),
            )
        except UsageError as error:
            raise UsageError(f"with {variant}: {error.message}", hint=error.hint) from error


def _teller(answers: BinaryIO) -> Tell:
    """Tells the parent how far a preparation is, a few times a second."""
    told = -math.inf

    def tell(text: str, share: float) -> None:
        nonlocal told
        now = monotonic()
        if now - told >= _SECONDS_BETWEEN_MESSAGES:
            told = now
            _send(answers, "preparing", text=text, share=share)

    return tell


def _probe(chosen: Workload, request: Request, defaults: Settings, answers: BinaryIO) -> None:
    settings = change(defaults, request.assignments)
    framework = plugins.framework(chosen.framework, chosen.name)
    found = probe(
        chosen,
        framework,
        request.scale,
        settings,
        request.data,
        division=request.division,
        tell=_teller(answers),
    )
    send(
        answers,
        "probe",
        spec=found.spec.to_dict(),
        settings=dataclasses.asdict(found.settings),
        candidates=[dataclasses.asdict(candidate) for candidate in found.candidates],
        matmul_peak=found.matmul_peak,
        unusable=dict(found.unusable),
        environment=_environment(found.environment),
    )


def _train(chosen: Workload, request: Request, settings: Settings, answers: BinaryIO) -> None:
    assert request.spec is not None, "a run needs the spec of its probe"
    assert request.log is not None, "a run needs a log"
    assert request.submission is not None, "a run needs to say who runs it"
    framework = plugins.framework(chosen.framework, chosen.name)
    framework.prepare(settings, request.seed)
    task = chosen.task(
        TaskRequest(
            scale=request.scale,
            spec=request.spec,
            settings=settings,
            seed=request.seed,
            data=request.data,
        )
    )

    def built() -> Moment:
        return Built(
            spec=task.spec,
            settings=dataclasses.asdict(settings),
            hyperparameters=dict(task.hyperparameters),
            environment=_environment(framework.environment()),
            caches_flushed=flush_caches(task.data_files()),
            initialized_tensors=task.initialized_tensors,
        )

    with LogWriter(request.log) as writer:
        observers = [
            LogObserver(writer, request.submission),
            InitLimit(LIMIT_MINUTES[request.submission.division]),
            Progress(answers),
            *plugins.observers(),
        ]
        moments = loop.train(
            task,
            global_batch_size=settings.global_batch_size,
            micro_batches=settings.gradient_accumulation_steps,
            synchronize=framework.synchronize,
            built=built,
            matmul_peak=request.matmul_peak,
            gather=framework.gather,
        )
        try:
            loop.record(moments, observers)
        finally:
            task.close()


class Progress:
    """The observer that tells the parent how far the run is, a few times a second."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._started = monotonic()
        self._told = 0.0

    def __call__(self, moment: Moment) -> None:
        """Send what the parent shows, unless it was told a moment ago."""
        now = monotonic()
        if isinstance(moment, RunStarted):
            self._started = now
            self._send("started")
        elif isinstance(moment, Stepped) and now - self._told > _SECONDS_BETWEEN_MESSAGES:
            self._told = now
            self._send("step", samples=moment.at.samples, seconds=now - self._started)
        elif isinstance(moment, Evaluated):
            self._send(
                "evaluated",
                samples=moment.at.samples,
                seconds=now - self._started,
                quality=moment.quality,
            )
        elif isinstance(moment, RunStopped):
            self._send(
                "stopped",
                samples=moment.at.samples,
                seconds=now - self._started,
                status=moment.status,
                reason=moment.reason,
                hint=moment.hint,
            )

    def _send(self, kind: str, **fields: Any) -> None:
        _send(self._answers, kind, **fields)


def _send(answers: BinaryIO, kind: str, **fields: Any) -> None:
    try:
        send(answers, kind, **fields)
    except BrokenPipeError:
        # The parent is gone (killed): end as if it had asked for it.
        raise _Stopped(signal.SIGHUP) from None


def _listen() -> None:
    """Turn the first SIGINT or SIGTERM into an orderly end; ignore later ones meanwhile."""

    def stop(number: int, frame: FrameType | None) -> None:
        for later in (signal.SIGINT, signal.SIGTERM):
            signal.signal(later, signal.SIG_IGN)
        raise _Stopped(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def _environment(framework: Mapping[str, Any]) -> dict[str, Any]:
    return {"trainmark": __version__, "python": platform.python_version(), **framework}


def _send_error(answers: BinaryIO, error: TrainmarkError) -> None:
    send(
        answers,
        "error",
        message=error.message,
        hint=error.hint,
        exit_code=error.exit_code,
        usage=isinstance(error, UsageError),
    )


if __name__ == "__main__":
    sys.exit(main())
