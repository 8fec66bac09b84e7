"""The full-size BERT-Large training step at sequence length 512: ours against the usual one.

    python benchmarks/step_bert.py [--pairs 1] [--batch 8] [--steps 1] [--warm-up 1]

"Usual" is the step of huggingface/transformers, src/transformers/models/bert/modeling_bert.py,
BertForPreTraining.forward, as its examples call it: every sequence padded to 512, the vocabulary
projection at every place, AdamW of torch. "Ours" packs the same number of sequences into rows and
projects at the places to predict; LAMB. The lengths are those of Wikipedia in phase 2 of BERT's
pre-training: the histogram of 16,279,552 sequences in graphcore/tutorials, blogs_code/packedBERT/
histograms.py (Krell et al. 2021, arXiv:2107.02027), half of whose places are padding. Goal: 2 times
the sequences a second.

Dropout is off on both sides: with it PyTorch has no fast attention on a CPU, and both would mostly
measure that.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from steps import StepBenchmark, Usual, run

from trainmark.types import Target, WorkloadSpec
from trainmark.workloads.bert import WORKLOAD

LENGTH, VOCABULARY = 512, 30_522
# The middles of 32 equal parts of the histogram.
QUANTILES = (
    *(25, 35, 43, 50, 57, 64, 71, 79, 89, 99, 111, 124, 139, 155, 173, 193, 215, 240, 267, 298),
    *(332, 369, 411, 459, 511, 512, 512, 512, 512, 512, 512, 512),
)


def lengths(batch: int) -> list[int]:
    """Lengths of so many sequences, evenly spread over the published distribution."""
    places = (np.arange(batch) + 0.5) / batch * len(QUANTILES) - 0.5
    return [round(float(length)) for length in np.interp(places, range(32), QUANTILES)]


def made(batch: int) -> list[Any]:
    """That many sequences of noise."""
    from trainmark.training.data.sequences import Recipe, masked
    from trainmark.training.data.wordpiece import SYNTHETIC

    random = np.random.default_rng(1)
    recipe = Recipe(length=LENGTH, vocabulary=VOCABULARY, special=SYNTHETIC)
    texts = [random.integers(5, VOCABULARY, n - 3).astype(np.int32) for n in lengths(batch)]
    return [
        masked(text[: len(text) // 2], text[len(text) // 2 :], False, recipe, random)
        for text in texts
    ]


def batches(_: Any, batch: int) -> Sequence[Any]:
    """Ours: packed."""
    from trainmark.training.data.packing import lay_out
    from trainmark.workloads.bert_torch import Batch

    return [Batch.of(lay_out(made(batch), LENGTH, packed=True))]


def usual_step(usual: Usual) -> Callable[[], None]:
    """The training step of transformers' BertForPreTraining."""
    import torch
    from transformers import BertConfig, BertForPreTraining

    from trainmark.training.data.packing import lay_out
    from trainmark.workloads.bert_torch import Batch

    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model: Any = BertForPreTraining(config)
    model.to(usual.device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, weight_decay=0.01)
    rows = Batch.of(lay_out(made(usual.batch), LENGTH, packed=False)).to(torch.device(usual.device))
    width = LENGTH - rows.tokens.shape[1]
    labels = torch.full(rows.tokens.shape, -100, device=usual.device).flatten()
    labels[rows.masked] = rows.labels

    def padded(tensor: Any, value: int) -> Any:
        return torch.nn.functional.pad(tensor, (0, width), value=value)

    inputs = {
        "input_ids": padded(rows.tokens, 0),
        "attention_mask": padded((rows.owners >= 0).long(), 0),
        "token_type_ids": padded(rows.segments, 0),
        "labels": padded(labels.view(rows.tokens.shape), -100),
        "next_sentence_label": rows.random_next,
    }

    def step() -> None:
        optimizer.zero_grad()
        model(**inputs).loss.backward()
        optimizer.step()

    return step


BENCHMARK = StepBenchmark(
    script=__file__,
    workload=WORKLOAD,
    spec=WorkloadSpec(
        name="bert",
        scale="full",
        title="BERT-Large",
        task="masked-language-model pre-training",
        dataset="noise",
        target=Target(metric="eval_accuracy", value=0.72),
        train_samples=156_725_653,
        eval_samples=10_000,
        evaluate_every_samples=150_000,
        max_samples=3_000_000,
        mlperf_name=None,
        parameters=336_226_108,
    ),
    samples="sequences",
    usual="BertForPreTraining.forward of huggingface/transformers, models/bert/modeling_bert.py",
    usual_step=usual_step,
    batch=8,
    steps=1,
    settings=("dropout=0",),
    batches=batches,
)

if __name__ == "__main__":
    run(BENCHMARK, __doc__)
