"""Small files in the form of the JODIE streams."""

from pathlib import Path

import numpy as np

from trainmark.training.data.interactions import Interactions, noise

__all__ = ["HEADER", "write_stream"]

HEADER = "user_id,item_id,timestamp,state_label,comma_separated_list_of_features\n"


def write_stream(file: Path, *, users: int, items: int, length: int, features: int) -> Interactions:
    """Write a stream of chance and return it."""
    stream = noise(users=users, items=items, length=length, features=features, seed=5)
    # Every user and item occurs: the ids are dense, as in the published file.
    stream.sources[:users] = np.arange(users)
    stream.destinations[:items] = users + np.arange(items)
    rows = zip(stream.sources, stream.destinations, stream.times, stream.features, strict=True)
    lines = [
        f"{user},{item - users},{time!r},0,{','.join(map(str, values.tolist()))}\n"
        for user, item, time, values in ((int(a), int(b), float(t), f) for a, b, t, f in rows)
    ]
    file.write_text(HEADER + "".join(lines))
    return stream
