"""What one needs to know of a workload, as plain data, and how people read parts of it."""

import inspect
import re
import sys
from dataclasses import replace
from typing import Any

from trainmark.report import format as text
from trainmark.training.settings import describe
from trainmark.training.task import Workload
from trainmark.types import Direction, Target, TrainmarkError, WorkloadSpec

__all__ = ["facts_of", "file_words", "goal", "size_words", "summary", "target_words"]

_PAPER = re.compile(r"arXiv:(\d{4}\.\d{4,5})")


def facts_of(workload: Workload) -> dict[str, Any]:
    """Everything that can be known without the data.

    Args:
        workload: The workload.
    """
    module = sys.modules.get(type(workload).__module__)
    about = inspect.cleandoc(module.__doc__ or "") if module is not None else ""
    papers = list(dict.fromkeys(_PAPER.findall(about)))
    return {
        "name": workload.name,
        "title": workload.title,
        "framework": workload.framework,
        "about": about.replace("``", ""),
        "papers": [f"https://arxiv.org/abs/{number}" for number in papers],
        "scales": {scale: _scale_facts(workload, scale) for scale in workload.scales},
    }


def _scale_facts(workload: Workload, scale: str) -> dict[str, Any]:
    spec, problem = _numbers(workload, scale)
    return {
        "spec": None
        if spec is None
        else spec.to_dict() | {"benchmark": spec.benchmark, "label": spec.label},
        "problem": problem,
        "needs": workload.needs[scale].to_dict(),
        "settings": describe(workload.scales[scale]),
    }


def _numbers(workload: Workload, scale: str) -> tuple[WorkloadSpec | None, str]:
    """The numbers on the published data; why there are none."""
    # A plug-in need not have it: its folder, or its package, tells.
    published = getattr(workload, "published", {}).get(scale)
    if published is not None:
        return published, ""
    try:
        return workload.spec(scale, workload.scales[scale](), None), ""
    except TrainmarkError as error:
        return None, error.message


def summary(facts: dict[str, Any], scale: str) -> str:
    """One scale in a line: parameters, data and target."""
    one = facts["scales"][scale]
    spec, needs = one["spec"], one["needs"]
    if spec is None:
        return str(needs["data"]["name"])
    return f"{spec['parameters']:,} parameters, {needs['data']['name']}, to {target_words(spec)}"


def target_words(spec: dict[str, Any]) -> str:
    """The target: ``97.5 % top-1 accuracy``."""
    target = _target(spec)
    return f"{text.goal(target)} {target.name or target.metric}"


def goal(spec: dict[str, Any]) -> str:
    """The target with what guessing reaches, how often it is looked for, and when to give up."""
    target = _target(spec)
    bound = "at least" if target.direction is Direction.HIGHER else "at most"
    words = [f"{target_words(spec)}, {bound}"]
    if spec["chance"] is not None:
        words.append(f"guessing reaches {text.goal(replace(target, value=spec['chance']))}")
    words.append(f"evaluated every {spec['evaluate_every_samples']:,} samples")
    words.append(f"given up after {spec['max_samples']:,}")
    return "; ".join(words)


def size_words(size_bytes: int) -> str:
    """A number of bytes for people."""
    unit, name = (1e9, "GB") if size_bytes >= 1e9 else (1e6, "MB")
    return f"{size_bytes / unit:,.3g} {name}"


def file_words(file: dict[str, Any]) -> str:
    """One published file: path, size, checksum."""
    parts = [file["path"]]
    parts += [] if file["size_bytes"] is None else [f"{file['size_bytes']:,} bytes"]
    parts += [file["digest"]] if file["digest"] else []
    parts += ["a run can do without it"] if file["optional"] else []
    return ", ".join(parts)


def _target(spec: dict[str, Any]) -> Target:
    target = Target.from_dict(spec["target"])
    assert target is not None, spec["target"]
    return target
