"""Write docs/claims.md: the numbers of two vendor reports beside what the catalogue says.

python docs/make_claims.py            write the page
python docs/make_claims.py --check    exit 1 if the page is not what would be written

The text is docs/claims.md.j2. Every number in it but the reports' own is reckoned here from the
packaged catalogue, and every judgement ("comes out", "does not") from the two.
"""

import decimal
import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from trainmark.analysis.cost import derive
from trainmark.analysis.statistics import Ratio, Sample, ratio
from trainmark.catalogue import Filters, query
from trainmark.catalogue.figures.tables import Tables, load_tables
from trainmark.types import Result

PAGE = Path(__file__).with_name("claims.md")


@functools.cache
def _published() -> Mapping[str, Result]:
    return {result.id: result for result in query(Filters(origin="published"))}


@functools.cache
def _tables() -> Tables:
    return load_tables()


def result(name: str) -> Result:
    """The result of that id; a misspelt one is an error of the page."""
    return _published()[name]


def minutes(name: str) -> float:
    """The score of a result."""
    found = result(name).minutes
    assert found is not None, name
    return found


def compared(name: str, base: str) -> Ratio:
    """The time of a result over the time of another, with its interval."""
    sides = [Sample.of(result(one)) for one in (name, base)]
    assert sides[0] is not None, name
    assert sides[1] is not None, base
    return ratio(sides[0], sides[1])


def less_time(name: str, base: str) -> float:
    """By how many per cent a result's time is less than another's."""
    return 100 * (1 - minutes(name) / minutes(base))


def more_speed(name: str, base: str) -> float:
    """By how many per cent a result's speed is more than another's."""
    return 100 * (minutes(base) / minutes(name) - 1)


def less_time_interval(name: str, base: str) -> str:
    """The 95 % interval of ``less_time``."""
    found = compared(name, base)
    assert found.low is not None
    assert found.high is not None
    return f"{100 * (1 - found.high):.1f} to {100 * (1 - found.low):.1f}"


def interval(name: str, base: str) -> str:
    """The 95 % interval of a result's time over another's."""
    found = compared(name, base)
    return f"{found.low:.3f} to {found.high:.3f}"


def per(what: str, name: str, base: str) -> float:
    """How many times the performance per ``what`` of a result is that of another."""
    sides = [derive(result(one), _tables())[what] for one in (name, base)]
    for side in sides:
        assert side.value is not None, side.missing
    return (sides[1].value or 0.0) / (sides[0].value or 1.0)


def formula(what: str, name: str) -> str:
    """How a derived number of a result comes about."""
    return derive(result(name), _tables())[what].formula


def fastest(round_name: str, benchmark: str, accelerator: str, chips: int) -> Result:
    """The fastest closed result of so many accelerators in a round."""
    return query(
        Filters(
            benchmark=benchmark,
            rounds=(round_name,),
            accelerator=accelerator,
            chips_min=chips,
            chips_max=chips,
            division="closed",
        ),
        limit=1,
    )[0]


def petaflops(name: str) -> float:
    """Peak dense 16-bit PFLOP/s of a result's accelerators together."""
    system = result(name)
    hardware = _tables().hardware(system.accelerator)
    assert hardware is not None, system.accelerator
    assert hardware.peak_16_bit is not None, system.accelerator
    return (system.accelerators or 0) * hardware.peak_16_bit[1].value / 1000


def rack_units(name: str) -> float:
    """Height of a result's system in a rack, units."""
    found = _tables().rack_units(result(name))
    assert found is not None, name
    return found.figure.value


def units_of_parts(name: str) -> float:
    """Height of an IPU-POD16 from its parts: IPU-M2000s, and host servers of one unit each.

    Its own row in the tables is the report's number, which would prove nothing.
    """
    system, part = result(name), _tables().products["ipu-m2000-space"]
    assert system.accelerators is not None, name
    assert system.hosts is not None, name
    return system.accelerators / part.rule.accelerators * part.figure.value + system.hosts


def rounds_of(accelerator: str) -> list[str]:
    """The rounds in which there are results of an accelerator."""
    found = {r.round for r in _published().values() if accelerator in r.accelerator}
    return sorted(filter(None, found))


def sizes_of(round_name: str, accelerator: str) -> list[int]:
    """The numbers of accelerators of a round's results."""
    return sorted(
        {
            r.accelerators
            for r in _published().values()
            if r.round == round_name and accelerator in r.accelerator and r.accelerators
        }
    )


def judged(said: str, found: float) -> str:
    """What the report says, what comes out, and whether one rounds to the other.

    Args:
        said: The report's number as it writes it, "1.6".
        found: The number reckoned here.
    """
    places = -int(decimal.Decimal(said).as_tuple().exponent)
    off = abs(found - float(said))
    if round(found, places) == float(said):
        word = "comes out"
    elif off < 10**-places:
        word = "comes out when rounded " + ("up" if float(said) > found else "down")
    else:
        word = "does **not** come out"
    return f"{said} | {found:.{places + 2}f} | {word}"


_NAMES: tuple[Callable[..., object], ...] = (
    compared,
    fastest,
    formula,
    interval,
    judged,
    less_time,
    less_time_interval,
    minutes,
    more_speed,
    per,
    petaflops,
    rack_units,
    result,
    rounds_of,
    sizes_of,
    units_of_parts,
)


def render() -> str:
    """The whole page."""
    environment = Environment(
        loader=FileSystemLoader(PAGE.parent),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - Markdown of our own numbers
    )
    environment.globals |= {one.__name__: one for one in _NAMES}
    return environment.get_template("claims.md.j2").render()


def main() -> int:
    """Write or check the page."""
    page = render()
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text("utf-8") != page:
            print(f"{PAGE} is stale; run: make docs", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
