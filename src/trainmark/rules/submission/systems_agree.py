"""Whether result logs and the description of their system say the same.

The official tools compare nothing here. A division that differs is an error, for it decides which
rules and which table a result falls under; the rest is a warning: half of the published logs keep
names of the scripts they were made with.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainmark.mllog import keys
from trainmark.rules.subjects import show
from trainmark.rules.submission.systems_claims import Claims
from trainmark.rules.submission.systems_fields import category, division, is_placeholder
from trainmark.rules.submission.systems_json import Description
from trainmark.types import Finding, Severity, printable

__all__ = ["agree", "same_organisation"]

_LEGAL_FORMS = frozenset(
    ("inc", "ltd", "llc", "gmbh", "ag", "corp", "corporation", "co", "company", "limited", "plc")
)
_FILLERS = frozenset(("the", "and"))
_NODES = re.compile(r"([0-9]{1,6})x", re.IGNORECASE)
_SHORTEST_PART = 3  # letters by which a name may be shortened to


def agree(
    description: Description,
    claims_by_log: Sequence[tuple[str, Claims]],
    *,
    submitter: str | None = None,
) -> list[Finding]:
    """Compare a system's description with the logs of its results.

    Each contradiction is said once, with the number of logs that have it.

    Args:
        description: The system's description.
        claims_by_log: The path of each log, and what it says.
        submitter: The name of the submitter's folder, which also names the organisation.
    """
    context = _Context(description, claims_by_log, submitter)
    return [finding for check in _CHECKS for finding in check(context)]


def same_organisation(one: str, other: str) -> bool:
    """Whether two texts name the same organisation.

    Case, punctuation, order of words and legal forms do not count; a name may be a part of the
    other (a joint result), a shortened word of it (Habana, HabanaLabs), or its initials.
    """
    left, right = _words(one), _words(other)
    if not left or not right:
        return True
    if _shortened("".join(left), "".join(right)):
        return True
    return any(
        _initials(more) in fewer
        or all(any(_shortened(word, part) for part in more) for word in fewer)
        for fewer, more in ((left, right), (right, left))
    )


def _initials(words: list[str]) -> str:
    """The initials of a name of several words, "" of a single one."""
    return "".join(word[0] for word in words) if len(words) > 1 else ""


def _words(name: str) -> list[str]:
    words = re.findall(r"[^\W_]+", name.lower())
    return [word for word in words if word not in _LEGAL_FORMS | _FILLERS] or words


def _shortened(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= _SHORTEST_PART and long.startswith(short))


@dataclass(frozen=True, slots=True)
class _Context:
    """A description, and the logs that are compared with it."""

    description: Description
    logs: Sequence[tuple[str, Claims]]
    submitter: str | None

    def differing(
        self, key: str, value: Callable[[Claims], str | None], wrong: Callable[[str], bool]
    ) -> Iterator[tuple[str, str, int, str]]:
        """Each wrong value, with the first log that has it, its line, and how many logs do."""
        found: dict[str, list[tuple[str, Claims]]] = {}
        for path, said in self.logs:
            text = value(said)
            if text is not None and wrong(text):
                found.setdefault(text, []).append((path, said))
        for text, logs in found.items():
            path, said = logs[0]
            yield text, path, said.lines.get(key, 1), self.how_many(len(logs))

    def how_many(self, number: int) -> str:
        """In how many of the logs, to go after a clause."""
        return "" if len(self.logs) == 1 else f" (in {number} of {len(self.logs)} logs)"

    def described(self, field: str) -> str:
        """The field and where it stands, in words."""
        line = self.description.lines.get(field)
        where = "/".join(Path(self.description.path).parts[-2:])  # systems/NAME.json
        where = printable(where if line is None else f"{where}:{line}")
        return f"{field} {show(self.description.fields.get(field))} ({where})"


def _division(context: _Context) -> Iterator[Finding]:
    """Closed and open are different competitions."""
    described = division(context.description.text("division") or "")
    if described is None:  # said of the description itself
        return
    for text, path, line_no, logs in context.differing(
        keys.SUBMISSION_DIVISION,
        lambda said: said.division,
        lambda text: division(text) not in (described, None),
    ):
        yield Finding(
            rule="system.division_differs",
            severity=Severity.ERROR,
            message=f"the log says division {show(text)}{logs}; the system description has "
            f"{context.described('division')}",
            fix="Write the division of the result into both: the description decides its table, "
            "the log its rules.",
            path=path,
            line_no=line_no,
            expected=described,
            found=show(text),
        )


def _organisation(context: _Context) -> Iterator[Finding]:
    """Whose result it is."""
    described = context.description.text("submitter") or ""
    names = [name for name in (described, context.submitter) if name]

    def wrong(text: str) -> bool:
        return is_placeholder(text) or not any(same_organisation(text, name) for name in names)

    if not names:
        return
    for text, path, line_no, logs in context.differing(
        keys.SUBMISSION_ORG, lambda said: said.organisation, wrong
    ):
        left = is_placeholder(text)
        yield Finding(
            rule="system.placeholder_org" if left else "system.org_differs",
            severity=Severity.WARNING,
            message=f"submission_org is still {show(text)}{logs}"
            if left
            else f"submission_org is {show(text)}{logs}; the system description has "
            f"{context.described('submitter')}",
            fix=f"Set submission_org to {show(names[0])} where the log is written.",
            path=path,
            line_no=line_no,
            expected=show(names[0]),
            found=show(text),
        )


def _submitter(context: _Context) -> Iterator[Finding]:
    """The description and the folder that it lies in."""
    described = context.description.text("submitter")
    if not described or not context.submitter:
        return
    if not same_organisation(described, context.submitter):
        yield Finding(
            rule="system.submitter_differs",
            severity=Severity.WARNING,
            message=f"submitter is {show(described)}, but the description lies in the folder of "
            f"{show(context.submitter)}",
            fix="Let both name the same organisation.",
            path=context.description.path,
            line_no=context.description.lines.get("submitter"),
            expected=show(context.submitter),
            found=show(described),
        )


def _status(context: _Context) -> Iterator[Finding]:
    """Available, preview or research; on premise or in the cloud."""
    described = category(context.description.text("status") or "")
    if described is None:
        return

    def wrong(text: str) -> bool:
        said = category(text)
        if said is None or said == described:
            return False
        return {said, described} not in ({"available", "cloud"}, {"available", "on premise"})

    for text, path, line_no, logs in context.differing(
        keys.SUBMISSION_STATUS, lambda said: said.status, wrong
    ):
        yield Finding(
            rule="system.status_differs",
            severity=Severity.WARNING,
            message=f"submission_status is {show(text)}{logs}; the system description has "
            f"{context.described('status')}",
            fix="Let both say the same; the description decides the category that is published.",
            path=path,
            line_no=line_no,
            found=show(text),
        )


def _platform(context: _Context) -> Iterator[Finding]:
    """A platform that the scripts were to fill in."""
    name = context.description.text("system_name") or ""
    for text, path, line_no, logs in context.differing(
        keys.SUBMISSION_PLATFORM, lambda said: said.platform, is_placeholder
    ):
        yield Finding(
            rule="system.placeholder_platform",
            severity=Severity.WARNING,
            message=f"submission_platform is still {show(text)}{logs}",
            fix=f"Set submission_platform to the system's name, {show(name)}.",
            path=path,
            line_no=line_no,
            expected=show(name),
            found=show(text),
        )


def _nodes(context: _Context) -> Iterator[Finding]:
    """A platform that begins with a number of nodes, or of accelerators: "8xDGX H100"."""
    nodes = context.description.count("number_of_nodes")
    per_node = context.description.count("accelerators_per_node")
    if nodes is None or not per_node:
        return  # without accelerators the number may be that of processors or cores: "2xEPYC"
    right = {nodes, per_node, nodes * per_node}

    def wrong(text: str) -> bool:
        match = _NODES.match(text)
        return match is not None and int(match[1]) not in right

    for text, path, line_no, logs in context.differing(
        keys.SUBMISSION_PLATFORM, lambda said: said.platform, wrong
    ):
        yield Finding(
            rule="system.nodes_differ",
            severity=Severity.WARNING,
            message=f"submission_platform is {show(text)}{logs}; the system description has "
            f"{context.described('number_of_nodes')} and {per_node} accelerators in each",
            fix="Put the log under the system that it was made on, or mend number_of_nodes.",
            path=path,
            line_no=line_no,
            expected=f"{nodes} x {per_node}",
            found=show(text),
        )


def _counted(context: _Context) -> Iterator[Finding]:
    """Nodes and accelerators as the submitter's own scripts counted them."""
    nodes = context.description.count("number_of_nodes")
    per_node = context.description.count("accelerators_per_node")
    found: dict[tuple[int | None, int | None], list[tuple[str, int]]] = {}
    for path, said in context.logs:
        counted = said.counted
        if counted is None:
            continue
        pair = (counted.nodes, counted.accelerators_per_node)
        if any(
            None not in (one, other) and one != other
            for one, other in zip(pair, (nodes, per_node), strict=True)
        ):
            found.setdefault(pair, []).append((path, counted.line_no))
    for pair, logs in found.items():
        path, line_no = logs[0]
        yield Finding(
            rule="system.counted_differs",
            severity=Severity.WARNING,
            message=f"the log counted {_many(pair[0], 'node')} of {_many(pair[1], 'accelerator')}"
            f"{context.how_many(len(logs))}; the system description has "
            f"{context.described('number_of_nodes')} and "
            f"{context.described('accelerators_per_node')}",
            fix="Put the log under the system that it was made on, or mend the description.",
            path=path,
            line_no=line_no,
            expected=f"{nodes} x {per_node}",
            found=f"{pair[0]} x {pair[1]}",
        )


def _many(number: int | None, what: str) -> str:
    return f"{'an unknown number' if number is None else number} {what}{'' if number == 1 else 's'}"


_CHECKS: tuple[Callable[[_Context], Iterator[Finding]], ...] = (
    _division,
    _organisation,
    _submitter,
    _status,
    _platform,
    _nodes,
    _counted,
)
