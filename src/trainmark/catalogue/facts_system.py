"""What the system file of a folder says, in the catalogue's words."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from trainmark.catalogue import names
from trainmark.catalogue.entries import Folder
from trainmark.catalogue.source import Source
from trainmark.types import Doubt, Finding, Run, Severity

__all__ = ["described"]


def described(
    source: Source, folder: Folder, round_name: str, runs: Sequence[Run]
) -> tuple[dict[str, Any], list[Doubt], list[Finding]]:
    """Temporary; becomes a call of describe."""
    del round_name
    doubts: list[Doubt] = []
    findings: list[Finding] = []
    system: Mapping[str, Any] = {}
    data = source.read(folder.systems[0]) if folder.systems else None
    if data is None:
        doubts.append(Doubt(kind="no system file", text="no system file", resolved=False))
    else:
        found, _ = parse_object(data)
        if found is None:
            findings.append(
                Finding(
                    rule="import.system",
                    severity=Severity.ERROR,
                    message="it is not valid JSON",
                    fix="Mend it.",
                    path=folder.systems[0],
                )
            )
        system = found or {}
    raw = {
        name: str(system.get(key, "")).strip()
        for name, key in {
            "accelerator": "accelerator_model_name",
            "accelerators_per_node": "accelerators_per_node",
            "division": "division",
            "nodes": "number_of_nodes",
            "status": "status",
            "submitter": "submitter",
            "system": "system_name",
        }.items()
    }
    nodes = names.count(raw["nodes"])
    per_node = names.count(raw["accelerators_per_node"])
    fields = {
        "accelerator": names.accelerator(
            raw["accelerator"], f"{raw['system']} {folder.system}"
        ).name,
        "division": names.division(raw["division"]).name,
        "category": names.category(raw["status"]).name,
        "submitter": names.submitter(raw["submitter"] or folder.submitter).name,
        "system": raw["system"] or folder.system,
        "framework": str(system.get("framework", "")).strip(),
        "nodes": nodes,
        "accelerators": None if nodes is None or per_node is None else nodes * per_node,
        "raw": {name: text for name, text in raw.items() if text},
    }
    return fields, doubts, findings


def parse_object(data: bytes) -> tuple[Mapping[str, Any] | None, bool]:
    text = data.decode("utf-8-sig", "replace")
    for repaired in (False, True):
        if repaired:
            text = re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda m: m[1] or "", text)
        try:
            found = json.loads(text)
        except ValueError:
            continue
        return (found if isinstance(found, dict) else None), repaired
    return None, False
