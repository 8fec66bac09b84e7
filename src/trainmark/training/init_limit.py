"""The observer that ends a run whose untimed initialisation takes longer than the rules allow.

MLPerf Training rules, "Timing": building, compiling and warming up may take 30 minutes in the
Closed division and 240 in the Open one. A hanging compiler is ended as well.
"""

import signal
from types import FrameType

from trainmark.training.moments import InitStarted, InitStopped, Moment
from trainmark.types import TrainmarkError

__all__ = ["LIMIT_MINUTES", "InitLimit"]

LIMIT_MINUTES = {"closed": 30.0, "open": 240.0}


class InitLimit:
    """Sets a timer at InitStarted and clears it at InitStopped.

    Args:
        minutes: How long the initialisation may take.
    """

    def __init__(self, minutes: float) -> None:
        self._minutes = minutes
        signal.signal(signal.SIGALRM, self._expire)

    def __call__(self, moment: Moment) -> None:
        """Hear a moment."""
        if isinstance(moment, InitStarted):
            signal.setitimer(signal.ITIMER_REAL, self._minutes * 60)
        elif isinstance(moment, InitStopped):
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _expire(self, number: int, frame: FrameType | None) -> None:
        raise TrainmarkError(
            f"building, compiling and warming up took more than the {self._minutes:g} minutes "
            "that the rules allow before the clock starts",
            hint="Try without --compile, or with a smaller micro_batch_size.",
        )
