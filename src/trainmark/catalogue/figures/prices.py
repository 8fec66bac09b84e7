"""What products cost, how much of a rack they fill, what power they are rated at.

A row of the tables says which results it is about: an accelerator, how many of it are in one
product, and parts of the system's name. A result that no row is about has no price: none is
made up from the accelerator's name or from a smaller product.
"""

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

from trainmark.catalogue.figures.figure import Figure
from trainmark.types import Result

__all__ = ["Price", "Product", "RackUnits", "Rule", "Watts", "system_name"]


def system_name(result: Result) -> str:
    """The system as rules see it: its name and its folder, in lower case, words apart."""
    parts = result.id.split("/")
    folder = parts[2] if len(parts) > 2 and result.round else ""
    return _words(f"{result.system} {folder}")


def _words(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.lower()).strip()


@lru_cache(maxsize=1024)
def _pattern(part: str) -> re.Pattern[str]:
    """Finds whole words of a name: "pod16" is not in "pod160", "dgx2" not in "dgx2h"."""
    return re.compile(rf"(?<![a-z0-9]){re.escape(_words(part))}(?![a-z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which results a row is about.

    Attributes:
        accelerator: The accelerator's name; "" for a machine without.
        accelerators: How many are in one product; 0 for a machine without.
        system: Parts of a system's name or folder, one of which must occur; () fits none but
            clouds' own rows (see ``Product.quoted``).
        submitters: Only these; () for all.
        multiples: Whether several of the product are this many times it.
    """

    accelerator: str
    accelerators: int
    system: tuple[str, ...] = ()
    submitters: tuple[str, ...] = ()
    multiples: bool = False

    def names(self, result: Result) -> bool:
        """Whether the result's system is this product by its name."""
        if self.submitters and result.submitter not in self.submitters:
            return False
        name = system_name(result)
        return any(_pattern(part).search(name) for part in self.system)

    def products(self, result: Result, accelerator: str) -> Fraction | None:
        """How many products have as many of the accelerator as the result; None if another.

        Args:
            result: The result.
            accelerator: Its accelerator's name in the tables.
        """
        if accelerator != self.accelerator:
            return None
        if not self.accelerators:
            return Fraction(result.nodes or 1)
        return Fraction(result.accelerators, self.accelerators) if result.accelerators else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A row of a table: one figure about a product, or about as many as a result has.

    Attributes:
        id: Its name in the tables.
        product: What it is.
        figure: The figure of one product.
        rule: Which results it is about.
        count: How many products this is about; 1 in the table itself.
        exact: Whether the result's system is this product, and not only alike.
        remarks: What must stand beside the number, beyond the figure's own marks.
    """

    id: str
    product: str
    figure: Figure
    rule: Rule
    count: Fraction = Fraction(1)
    exact: bool = True
    remarks: tuple[str, ...] = field(default=())

    @property
    def amount(self) -> float:
        """The figure times the count, in the figure's unit."""
        return float(self.figure.value * self.count)

    @property
    def marks(self) -> tuple[str, ...]:
        """What must stand beside any number that is derived from this one."""
        return (*self.remarks, *self.figure.marks)

    def of(self, result: Result, accelerator: str) -> Self | None:
        """This row as it applies to a result whose system is this product; None if it is not.

        Args:
            result: The result.
            accelerator: Its accelerator's name in the tables.
        """
        count = self.rule.products(result, accelerator)
        if count is None or count.denominator != 1 or not self.rule.names(result):
            return None
        if count != 1 and not self.rule.multiples:
            return None
        remarks = (f"{count} times {self.product}, without what joins them",) if count > 1 else ()
        return replace(self, count=count, remarks=remarks)

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data for ``--json``."""
        return {
            "id": self.id,
            "kind": _KINDS[type(self).__name__],
            "product": self.product,
            **self.figure.to_dict(),
            "amount": self.amount,
            "count": float(self.count),
            "exact": self.exact,
            "marks": list(self.marks),
            "accelerator": self.rule.accelerator,
            "accelerators": self.rule.accelerators,
            "system": list(self.rule.system),
            "submitters": list(self.rule.submitters),
            "multiples": self.rule.multiples,
        }


_KINDS = {"Price": "price", "RackUnits": "space", "Watts": "power"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Product):
    """What a product costs, USD, or an hour of an instance, USD/hour.

    Attributes:
        provider: The cloud; "" for a product that is sold.
        region: The cloud's region as it names it.
        term: "on demand" and the like.
    """

    provider: str = ""
    region: str = ""
    term: str = ""

    @property
    def hourly(self) -> bool:
        """Whether it is the price of an hour."""
        return self.figure.unit == "USD/hour"

    @property
    def per_accelerator(self) -> float:
        """The price of one product divided by its accelerators (machines without: by 1)."""
        return self.figure.value / (self.rule.accelerators or 1)

    def let(self, result: Result, accelerator: str) -> "Price | None":
        """This hourly price for as many accelerators as a result has; None for another kind.

        An instance with the same accelerator is not the system that was measured: host,
        network and cooling may differ, and that is always said.

        Args:
            result: The result.
            accelerator: Its accelerator's name in the tables.
        """
        count = self.rule.products(result, accelerator)
        exact = self.rule.names(result)
        if count is None or not (self.rule.accelerators or exact):
            return None  # two machines without accelerators have nothing in common
        remarks = []
        if not exact:
            remarks.append(
                f"the price of {self.product} with the same accelerator; "
                "this system is not that instance"
            )
        if count.denominator != 1:
            remarks.append(f"{float(count):.4g} instances: they are let whole")
        return replace(self, count=count, exact=exact, remarks=tuple(remarks))

    def instead(self, result: Result, accelerator: str) -> "Price | None":
        """This price for a result whose system is another, of just as many of the accelerator.

        Args:
            result: The result.
            accelerator: Its accelerator's name in the tables.
        """
        if self.rule.products(result, accelerator) != 1:
            return None
        remark = f"the price of {self.product} as asked for; this system is not that product"
        return replace(self, exact=False, remarks=(remark,))

    def to_dict(self) -> dict[str, Any]:
        """The price as plain data for ``--json``."""
        base = Product.to_dict(self)
        return base | {"provider": self.provider, "region": self.region, "term": self.term}


@dataclass(frozen=True, slots=True, kw_only=True)
class RackUnits(Product):
    """The height of a product in rack units, U."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watts(Product):
    """The greatest power that a product is rated at, W: a datasheet's number, not measured."""
