from trainmark.catalogue.naming.code import implementations_in, other_system_file


def test_implementations_by_submitter_and_benchmark() -> None:
    paths = [
        "Dell/benchmarks/dlrm/implementations/hugectr/Dockerfile",
        "Dell/benchmarks/dlrm/implementations/hugectr/train.py",
        "Dell/benchmarks/dlrm/implementations/XE8545/config.sh",
        "DellEMC/benchmarks/ssd/implementation/mxnet/Dockerfile",
        "Fujitsu/benchmarks/mask/implementations/pytorch/run.sh",
        "Dell/benchmarks/dlrm/implementations/README.md",
        "Dell/results/implementations/dlrm/result_0.txt",
    ]
    assert implementations_in(paths) == {
        ("Dell", "dlrm"): ("XE8545", "hugectr"),
        ("DellEMC", "ssd"): ("mxnet",),
        ("Fujitsu", "maskrcnn"): ("pytorch",),
    }


def test_system_files_by_other_names() -> None:
    assert other_system_file("Alibaba", "v100-1280") == "n160_pai_eflops"
    assert other_system_file("Alibaba", "somewhere") == ""
