"""The official checker, asked in this process."""

from pathlib import Path

from mlperf_logging.compliance_checker import mlp_compliance


def official_verdict(path: Path, round_name: str) -> bool:
    """Whether the official checker calls a log compliant; a crash of it counts as no."""
    mlp_compliance.enqueued_configs.clear()  # a crash leaves some behind
    checker = mlp_compliance.make_checker("training", f"{round_name}.0", quiet=True, werror=False)
    try:
        return bool(checker.check_file(str(path), f"training_{round_name}.0/common.yaml"))
    except Exception:  # noqa: BLE001 -- it has no exceptions of its own: whatever it dies of
        return False
