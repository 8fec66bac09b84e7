"""What every page of ours shares: templates, scripts by hash, packed data, and how it is written.

A content security policy in the page names its scripts by their SHA-256 and forbids every
request, so the browser itself holds the page to "no network, no script but these" whatever a log
says.
"""

import base64
import functools
import hashlib
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from trainmark.types import UsageError, atomic_write, printable

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = [
    "chart_library",
    "environment",
    "inert_json",
    "pack",
    "policy",
    "refuse_folder",
    "template_text",
    "write_page",
]

# Written as JSON escapes, no text can end the block or start markup in it.
_INERT = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def environment() -> "Environment":
    """Jinja2 that escapes everything, cleans every text and stops at a misspelt name."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("trainmark.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _finalize(value: Any) -> Any:
    if isinstance(value, Markup):
        return value
    return printable(value) if isinstance(value, str) else value


def template_text(name: str) -> str:
    """A packaged file as it stands, not rendered."""
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


@functools.cache
def chart_library() -> str:
    """Plotly's script from the installed package, fit to stand in an element of a page."""
    from plotly.offline import get_plotlyjs

    library: str = get_plotlyjs()
    # Else it would end its own element; hashes are taken after the parser's line ends.
    return library.replace("</script", "<\\/script").replace("\r\n", "\n").replace("\r", "\n")


def policy(*scripts: str) -> str:
    """The content security policy that allows these scripts and no request at all."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def inert_json(data: bytes) -> Markup:
    """JSON that may stand in a script element, whatever text is in it.

    Args:
        data: JSON as UTF-8.
    """
    return Markup(data.decode().translate(_INERT))  # noqa: S704 - inert


def pack(data: bytes) -> Markup:
    """Bytes as text for a page: deflated (zlib) and in base64, which no markup can stand in.

    Args:
        data: What the page's script unpacks.
    """
    return Markup(base64.b64encode(zlib.compress(data, 9)).decode())  # noqa: S704 - base64


def write_page(path: str | Path, text: str) -> None:
    """Write a page; the file is whole or not there.

    Args:
        path: The file to make or replace.
        text: The page.

    Raises:
        UsageError: It is a folder, or its folder is missing or may not be written to.
        TrainmarkError: The disk is full.
    """
    refuse_folder(path)
    atomic_write(path, text)


def refuse_folder(path: str | Path) -> None:
    """Stop where a page is to be written over a folder.

    Args:
        path: Where the page goes.

    Raises:
        UsageError: It is a folder, or no file can have that name.
    """
    try:
        taken = Path(path).is_dir()
    except OSError as error:  # a name longer than any
        raise UsageError(
            f"cannot write {path}: {error.strerror}", hint="Give a shorter file name."
        ) from error
    if taken:
        raise UsageError(
            f"{path} is a folder; the page is a file",
            hint=f"Give a file name, for example {Path(path) / 'report.html'}.",
        )
