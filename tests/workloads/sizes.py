"""Settings under which prepared desk data is small, so that tests can make it in a second."""

SMALL: dict[str, tuple[str, ...]] = {}
