"""The settings of BERT at both scales. Their sources: ``trainmark.workloads.bert``."""

from dataclasses import dataclass

from trainmark.training.settings import Settings, setting
from trainmark.types import UsageError

__all__ = ["BertSettings", "DeskSettings", "FullSettings", "parameter_count"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BertSettings(Settings):
    """What both scales share: optimizer, schedule, packing."""

    memory_format: str = setting(
        "contiguous", "layout of image tensors; means nothing here", choices=("contiguous",)
    )
    optimizer: str = setting("lamb", "optimizer", choices=("lamb", "adamw"))
    learning_rate: float = setting(4.25e-4, "learning rate where the schedule begins", minimum=0)
    training_steps: int = setting(
        6700, "steps in which the rate falls to 0; the run gives up after them", minimum=1
    )
    warmup_steps: int = setting(0, "steps of linear warm-up", minimum=0)
    start_warmup_step: int = setting(0, "step at which the warm-up begins; may be negative")
    beta1: float = setting(0.9, "decay of the first moment", minimum=0, maximum=0.9999)
    beta2: float = setting(0.999, "decay of the second moment", minimum=0, maximum=0.999999)
    epsilon: float = setting(1e-6, "epsilon of the optimizer", minimum=0, fixed=True)
    weight_decay: float = setting(0.01, "weight decay of matrices", minimum=0)
    packing: bool = setting(True, "several sequences in a row, else each padded to the longest")
    sequence_length: int = setting(
        512, "most tokens in a sequence, and tokens in a row", minimum=16, maximum=512, fixed=True
    )
    layers: int = setting(24, "layers", minimum=1, maximum=48, fixed=True)
    width: int = setting(1024, "width of a layer", minimum=16, maximum=4096, fixed=True)
    heads: int = setting(16, "attention heads of a layer", minimum=1, maximum=64, fixed=True)
    inner: int = setting(4096, "width within the feed-forward part", minimum=16, fixed=True)
    dropout: float = setting(
        0.1, "share of activations dropped", minimum=0, maximum=0.9, fixed=True
    )

    def validate(self) -> None:
        """See ``Settings.validate``; heads must share the width evenly."""
        Settings.validate(self)  # slots make a class anew, which super() does not know
        if self.width % (2 * self.heads):
            raise UsageError(
                f"setting heads={self.heads} does not fit width={self.width}",
                hint="The width must be a multiple of twice the number of heads.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings(BertSettings):
    """Desk scale: minutes on two CPU cores."""

    global_batch_size: int = setting(16, "samples in one optimizer step", minimum=1)
    optimizer: str = setting("adamw", "optimizer", choices=("lamb", "adamw"))
    learning_rate: float = setting(2e-3, "learning rate where the schedule begins", minimum=0)
    training_steps: int = setting(
        3750, "steps in which the rate falls to 0; the run gives up after them", minimum=1
    )
    warmup_steps: int = setting(50, "steps of linear warm-up", minimum=0)
    beta2: float = setting(0.98, "decay of the second moment", minimum=0, maximum=0.999999)
    sequence_length: int = setting(
        64, "most tokens in a sequence, and tokens in a row", minimum=16, maximum=512, fixed=True
    )
    layers: int = setting(1, "layers", minimum=1, maximum=48, fixed=True)
    width: int = setting(128, "width of a layer", minimum=16, maximum=4096, fixed=True)
    heads: int = setting(4, "attention heads of a layer", minimum=1, maximum=64, fixed=True)
    inner: int = setting(256, "width within the feed-forward part", minimum=16, fixed=True)
    dropout: float = setting(
        0.0, "share of activations dropped", minimum=0, maximum=0.9, fixed=True
    )
    translations: str = setting(
        "kjv,asv,web", "translations to train on", choices=("kjv", "kjv,asv,web"), fixed=True
    )
    mask_share: float = setting(
        0.4,
        "share of the tokens to predict in the first half of training",
        minimum=0.01,
        maximum=0.9,
        fixed=True,
    )
    last_mask_share: float = setting(
        0.15, "what that share falls to in the second half", minimum=0.01, maximum=0.9, fixed=True
    )
    vocabulary: int = setting(
        1000, "pieces of the vocabulary", minimum=100, maximum=30_000, fixed=True
    )
    vocabulary_verses: int = setting(
        20_000, "verses that the vocabulary is learnt from", minimum=100, fixed=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FullSettings(BertSettings):
    """Full scale: the published configuration, for records or plain text in the folder layout."""

    global_batch_size: int = setting(448, "samples in one optimizer step", minimum=1)
    micro_batch_size: int = setting(
        56, "samples in one forward and backward pass; 0: the whole batch", minimum=0
    )
    shuffle_buffer: int = setting(20_000, "sequences that wait to be mixed", minimum=1)


def parameter_count(settings: BertSettings, vocabulary: int) -> int:
    """Trainable parameters of the network with both heads; the projection is the embedding."""
    width, inner = settings.width, settings.inner
    norm = 2 * width
    embeddings = (vocabulary + settings.sequence_length + 2) * width + norm
    attention = 4 * (width + 1) * width + norm
    forward = (width + 1) * inner + (inner + 1) * width + norm
    heads = (width + 1) * width + norm + vocabulary + 2 * (width + 1)
    pooler = (width + 1) * width
    return embeddings + settings.layers * (attention + forward) + pooler + heads
