"""Published folders: the whole way from the logs to the factor, beside the official checker."""

from pathlib import Path

import pytest

from trainmark.mllog import read
from trainmark.rules.convergence import check_convergence, measure
from trainmark.rules.rulesets import ruleset_named

FOLDERS = {
    "v1.0/Graphcore/results/ipu-pod16-POPART-closed/bert": False,
    "v1.0/Graphcore/results/ipu-pod64-TF1/resnet": False,
    "v1.0/NVIDIA/results/dgxa100_ngc21.05_pytorch/bert": True,
    "v2.0/Graphcore/results/ipu-pod256-TF1-closed/resnet": False,
    "v2.0/NVIDIA/results/dgxa100_ngc22.04_mxnet/resnet": False,
    "v2.0/NVIDIA/results/dgxa100_ngc22.04_pytorch/bert": True,
    "v5.0/Lenovo/results/4xSR680Ax8H200-SXM-141GB/llama2_70b_lora": False,
    "v5.0/Lenovo/results/SR780aV3-8xB200_SXM_180GB/retinanet": False,
    "v5.0/Lenovo/results/SR780aV3-8xB200_SXM_180GB/stable_diffusion": False,
}


@pytest.mark.parametrize("name", FOLDERS)
def test_verdict_and_factor_are_the_official_ones(name: str, shared_logs: Path) -> None:
    checker = pytest.importorskip("mlperf_logging.rcp_checker.rcp_checker")
    folder = shared_logs / name
    if not folder.is_dir():
        pytest.skip("this folder is not in the sample")
    ruleset, benchmark = ruleset_named(name.split("/")[0]), folder.name
    found = (
        measure(read(file), benchmark=benchmark, ruleset=ruleset)
        for file in sorted(folder.glob("result_*.txt"))
    )
    logs = [one for one in found if one is not None]
    for which, pruned in (("pruned_rcps", True), ("full_rcps", False)):
        ours = check_convergence(
            name, logs, ruleset=ruleset, benchmark=benchmark, division="closed", pruned=pruned
        )
        theirs = checker.check_directory(
            str(folder), "training", f"{ruleset.name}.0", False, FOLDERS[name], rcp_pass=which
        )
        assert ours.judgement is not None
        assert ours.batch_size is not None
        assert ours.judgement.passed == theirs[0]
        assert ours.judgement.official_message(ours.batch_size) == theirs[1]
        assert ours.judgement.factor == pytest.approx(theirs[2], rel=1e-12)
