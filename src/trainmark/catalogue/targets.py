"""The quality at which the clock stops, by benchmark and round.

The numbers are those of the official rule tables (from round 0.7 on; a test compares them) and, for
the first two rounds, of the training rules and of the logs, which state it as ``eval_target``. They
are in the units that ``catalogue.importing.samples`` gives a quality in: BLEU as a fraction, the
box precision of Mask R-CNN, the FID of Stable Diffusion.
"""

from collections.abc import Mapping

from trainmark.types.workload import Direction, Target

__all__ = ["target_of"]


def _at_least(value: float) -> Target:
    return Target(metric="eval_accuracy", value=value)


def _at_most(value: float) -> Target:
    return Target(metric="eval_accuracy", value=value, direction=Direction.LOWER)


# From which round on; ascending.
_TARGETS: Mapping[str, tuple[tuple[tuple[int, int], Target], ...]] = {
    "bert": (((0, 7), _at_least(0.712)), ((1, 0), _at_least(0.72))),
    "dlrm": (((0, 7), _at_least(0.8025)),),
    "dlrm_dcnv2": (((3, 0), _at_least(0.80275)),),
    "flux1": (((5, 1), _at_most(0.586)),),
    "gnmt": (((0, 5), _at_least(0.218)), ((0, 6), _at_least(0.24))),
    "gnn": (((4, 0), _at_least(0.72)),),
    "gpt3": (((3, 0), _at_most(2.69)),),
    "llama2_70b_lora": (((4, 0), _at_most(0.925)),),
    "llama31_405b": (((5, 0), _at_most(5.6)),),
    "llama31_8b": (((5, 1), _at_most(3.3)),),
    "maskrcnn": (((0, 5), _at_least(0.377)),),
    "minigo": (((0, 6), _at_least(0.5)),),
    "ncf": (((0, 5), _at_least(0.635)),),
    "resnet": (((0, 5), _at_least(0.749)), ((0, 6), _at_least(0.759))),
    "retinanet": (((5, 0), _at_least(0.34)),),
    "rgat": (((5, 0), _at_least(0.72)),),
    "rnnt": (((1, 0), _at_most(0.058)),),
    "ssd": (((0, 5), _at_least(0.212)), ((0, 6), _at_least(0.23)), ((2, 0), _at_least(0.34))),
    "stable_diffusion": (((3, 1), _at_most(90.0)),),
    "transformer": (((0, 5), _at_least(0.25)),),
    "unet3d": (((1, 0), _at_least(0.908)),),
}


def target_of(benchmark: str, round_name: str) -> Target | None:
    """The target of a benchmark in a round.

    Args:
        benchmark: Its official name in that round.
        round_name: The round, "2.0".

    Returns:
        None for a benchmark without one in that round, and for what is no round.
    """
    major, _, minor = round_name.partition(".")
    if not (major.isdecimal() and minor.isdecimal()):
        return None
    number, found = (int(major), int(minor)), None
    for first, target in _TARGETS.get(benchmark, ()):
        if first <= number:
            found = target
    return found
