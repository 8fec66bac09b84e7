from hypothesis import given
from hypothesis import strategies as st

from trainmark.catalogue.importing.entries import Folder, Folders, find_folders


def _one(*paths: str) -> Folder:
    (folder,) = find_folders(paths, "top").folders
    return folder


def test_the_layout_of_today() -> None:
    folder = _one(
        "House/results/box/resnet/result_10.txt",
        "House/results/box/resnet/result_2.txt",
        "House/results/box/resnet/scaling.json",
        "House/results/box/resnet/power/result_2/node_10.txt",
        "House/results/box/resnet/power/result_2/node_9.txt",
        "House/systems/box.json",
        "House/systems/other.json",
        "House/benchmarks/resnet/implementations/mxnet/results/run/resnet/result_0.txt",
    )
    assert folder.path == "House/results/box/resnet"
    assert (folder.place, folder.submitter, folder.system, folder.benchmark) == (
        "House/box/resnet",
        "House",
        "box",
        "resnet",
    )
    assert [log.rpartition("/")[2] for log in folder.logs] == ["result_2.txt", "result_10.txt"]
    assert folder.systems == ("House/systems/box.json",)
    assert folder.scaling == "House/results/box/resnet/scaling.json"
    assert [log.rpartition("/")[2] for log in folder.power] == ["node_9.txt", "node_10.txt"]
    assert folder.implementations == ("mxnet",)
    assert set(folder.files) == {
        *folder.logs,
        *folder.power,
        folder.scaling,
        "House/systems/box.json",
    }


def test_round_0_5_and_its_raw_output() -> None:
    found = find_folders(
        [
            "v0.5.0/google/cloud/resnet-tpu/results/tpu/resnet/result_0.txt",
            "v0.5.0/google/cloud/resnet-tpu/results/tpu/resnet/intel_caffe_result_0.txt",
            "v0.5.0/google/cloud/resnet-tpu/results/tpu/entry.json",
            "v0.5.0/google/cloud/resnet-tpu/submission.json",
            "v0.5.0/google/cloud/resnet-tpu/code/results/x/resnet/result_0.txt",
        ],
        "top",
    )
    (folder,) = found.folders
    assert folder.place == "google/cloud/resnet-tpu/tpu/resnet"
    assert folder.submitter == "google"
    assert folder.systems == ("v0.5.0/google/cloud/resnet-tpu/results/tpu/entry.json",)
    assert [one.rpartition("/")[2] for one in found.skipped] == ["intel_caffe_result_0.txt"]


def test_an_entry_beside_the_results_as_in_0_6() -> None:
    folder = _one("A/results/box/resnet/result_0.txt", "A/results/box/entry.json")
    assert folder.systems == ("A/results/box/entry.json",)
    assert folder.expected_system == "A/systems/box.json"


def test_logs_in_the_system_folder_as_in_0_7() -> None:
    folder = _one("A/results/v100-256/result_1.txt", "A/results/README.md")
    assert (folder.benchmark, folder.place) == ("", "A/v100-256")


def test_the_benchmark_folder_may_stand_deeper() -> None:
    assert _one("A/results/box/resnet/bert/result_0.txt").place == "A/box/resnet/bert"


def test_a_submitters_own_folder_is_the_top() -> None:
    folder = _one("results/box/resnet/result_0.txt", "systems/box.json")
    assert (folder.submitter, folder.place) == ("top", "top/box/resnet")
    assert folder.systems == ("systems/box.json",)


def test_submitters_may_stand_anywhere() -> None:
    folder = _one("year/spring/A/results/box/resnet/result_0.txt", "year/spring/A/systems/box.json")
    assert (folder.submitter, folder.systems) == ("A", ("year/spring/A/systems/box.json",))


def test_stray_files_are_told_and_no_logs() -> None:
    base = "House/results/box/resnet"
    stray = [
        f"{base}/{n}" for n in (".!65506!result_4.txt", ".result_1.txt.swp", "rcp_checker.log")
    ]
    found = find_folders([*stray, f"{base}/result_0.txt", f"{base}/raw_logs/x.log"], "top")
    assert found.folders[0].logs == (f"{base}/result_0.txt",)
    assert sorted(found.skipped) == sorted(stray)


def test_logs_by_other_names_are_taken_where_there_are_no_others() -> None:
    base = "Alibaba/results/a100/resnet"
    folder = _one(f"{base}/2007_10.log", f"{base}/2007_9.log", f"{base}/notes.txt")
    assert folder.logs == (f"{base}/2007_9.log", f"{base}/2007_10.log")
    assert folder.other_names


def test_unknown_benchmarks_and_no_results_at_all() -> None:
    nothing = Folders(folders=(), skipped=())
    assert find_folders(["House/results/box/no_such_thing/result_0.txt"], "top") == nothing
    assert find_folders(["results", "a/results/b", "House/systems/box.json"], "top") == nothing
    assert find_folders([], "top") == nothing


WORDS = (
    "results",
    "systems",
    "v0.5.0",
    "House",
    "resnet",
    "power",
    "code",
    "result_0.txt",
    "a.log",
)


@given(st.lists(st.lists(st.sampled_from([*WORDS, "\udcff", "x"]), min_size=1, max_size=7)))
def test_any_tree_gives_folders_whose_files_are_all_in_it(trees: list[list[str]]) -> None:
    paths = ["/".join(parts) for parts in trees]
    found = find_folders(paths, "top")
    places = [folder.place for folder in found.folders]
    for folder in found.folders:
        assert folder.logs
        assert set(folder.files) <= set(paths)
    assert set(found.skipped) <= set(paths)
    assert places == [folder.place for folder in find_folders(reversed(paths), "top").folders]
