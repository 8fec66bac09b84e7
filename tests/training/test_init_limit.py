import signal
import time

import pytest

from trainmark.training.init_limit import LIMIT_MINUTES, InitLimit
from trainmark.training.moments import InitStarted, InitStopped
from trainmark.types import TrainmarkError


def test_an_initialisation_beyond_the_limit_is_ended() -> None:
    limit = InitLimit(minutes=0.05 / 60)
    limit(InitStarted())
    with pytest.raises(TrainmarkError, match="minutes that the rules allow") as caught:
        time.sleep(30)
    assert "--compile" in caught.value.hint


def test_the_timer_stops_with_the_initialisation() -> None:
    limit = InitLimit(minutes=1)
    limit(InitStarted())
    assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
    limit(InitStopped())
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_the_limits_are_those_of_the_rules() -> None:
    assert LIMIT_MINUTES == {"closed": 30, "open": 240}
