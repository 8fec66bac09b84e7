"""A page as a test reads it: elements with their attributes and text."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset({"meta", "br", "hr", "img", "input", "link"})


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parts: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        joined = "".join(part if isinstance(part, str) else part.text for part in self.parts)
        return " ".join(joined.split())

    def all(self, tag: str = "", **attributes: str) -> list["Element"]:
        """Every element below with that tag and those attributes ("cls" is class)."""
        found = []
        for part in self.parts:
            if isinstance(part, Element):
                if tag in ("", part.tag) and all(
                    part.attributes.get("class" if name == "cls" else name) == value
                    for name, value in attributes.items()
                ):
                    found.append(part)
                found += part.all(tag, **attributes)
        return found

    def one(self, tag: str = "", **attributes: str) -> "Element":
        (found,) = self.all(tag, **attributes)
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)


def parse(page: str) -> Element:
    """The page as a tree; every element must be closed in its place."""
    # What stands in the chart library is nobody's text: it only costs the parser time.
    page = re.sub(r"(<script>)/\*\*\s+\* plotly\.js.*?(</script>)", r"\1\2", page, flags=re.DOTALL)
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert len(reader.open) == 1, [element.tag for element in reader.open]
    return reader.root
