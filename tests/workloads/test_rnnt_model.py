"""The network against a plain computation in NumPy, and decoding against one step at a time."""

import numpy as np
import numpy.typing as npt
import pytest
import torch

from trainmark.training.transducer import lattice
from trainmark.workloads.rnnt_model import Lstm, Sizes, Transducer, greedy

Array = npt.NDArray[np.float64]
SMALL = Sizes(
    features=6,
    encoder=5,
    prediction=4,
    joint=7,
    classes=4,
    encoder_dropout=0.0,
    prediction_dropout=0.0,
    joint_dropout=0.0,
    scale=1.0,
)


def model(sizes: Sizes = SMALL, seed: int = 0) -> Transducer:
    torch.manual_seed(seed)
    return Transducer(sizes).double().eval()


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def plain_lstm(lstm: torch.nn.LSTM, inputs: Array) -> Array:
    """The equations of an LSTM, a step at a time; inputs (T, features)."""
    values = {name: value.detach().numpy() for name, value in lstm.named_parameters()}
    for layer in range(lstm.num_layers):
        h = c = np.zeros(lstm.hidden_size)
        outputs = []
        for x in inputs:
            gates = (
                values[f"weight_ih_l{layer}"] @ x
                + values[f"bias_ih_l{layer}"]
                + values[f"weight_hh_l{layer}"] @ h
                + values[f"bias_hh_l{layer}"]
            )
            i, f, g, o = np.split(gates, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            outputs.append(h)
        inputs = np.stack(outputs)
    return inputs


def linear(layer: torch.nn.Linear, x: Array) -> Array:
    found: Array = x @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    return found


def plain_encoded(net: Transducer, features: Array) -> Array:
    """(T, joint) of one utterance."""
    frames = plain_lstm(net.before, features)
    if len(frames) % 2:
        frames = np.concatenate([frames, np.zeros((1, frames.shape[1]))])
    encoded = plain_lstm(net.after, frames.reshape(len(frames) // 2, -1))
    return linear(net.joint_encoder, encoded)


def plain_joint(net: Transducer, encoded: Array, labels: list[int]) -> Array:
    """(T, U + 1, classes) of one utterance."""
    embedded = net.embedding.weight.detach().numpy()[labels]
    start = np.zeros((1, embedded.shape[1]))
    predicted = plain_lstm(net.prediction, np.concatenate([start, embedded]))
    told = linear(net.joint_prediction, predicted)
    return linear(net.output, np.maximum(encoded[:, None] + told[None], 0))


def test_an_lstm_computes_in_the_format_that_it_is_given() -> None:
    torch.manual_seed(0)
    lstm = Lstm(3, 4, 2)
    x, state = torch.randn(5, 2, 3), (torch.randn(2, 2, 4), torch.randn(2, 2, 4))
    wanted, last = lstm(x, state)
    found, end = lstm.computed(x, state, torch.float64)
    assert found.dtype == end[0].dtype == torch.float64
    assert torch.allclose(found.float(), wanted, atol=1e-6)
    assert torch.allclose(end[1].float(), last[1], atol=1e-6)
    found.sum().backward()
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in lstm.parameters())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(lstm(x.bfloat16().float(), None)[0], lstm(x.bfloat16())[0])


def test_full_scale_has_the_parameters_of_the_reference() -> None:
    """Counted from the sizes of the reference's configuration, matrix by matrix."""

    def lstm(inputs: int, width: int, layers: int) -> int:
        return sum(
            4 * width * ((inputs if layer == 0 else width) + width + 2) for layer in range(layers)
        )

    encoder = lstm(240, 1024, 2) + lstm(2 * 1024, 1024, 3)
    prediction = 1023 * 512 + lstm(512, 512, 2)
    joint = (1024 + 1) * 512 + (512 + 1) * 512 + (512 + 1) * 1024
    with torch.device("meta"):
        full = Transducer(Sizes())
    assert sum(p.numel() for p in full.parameters()) == encoder + prediction + joint == 49_006_080


@pytest.mark.parametrize("length", [1, 6, 7])
def test_logits_are_those_of_a_plain_computation(length: int) -> None:
    net = model()
    labels = [[2, 0, 1], [1]]
    features = torch.randn(length, 2, SMALL.features, dtype=torch.float64)
    frames = net.frames([length, length])
    where = lattice(frames, labels, SMALL.blank)
    padded = torch.tensor([[2, 0, 1], [1, 0, 0]])
    logits = net(features, padded, where)
    for index, part in enumerate(where.parts(logits)):
        encoded = plain_encoded(net, features[:, index].numpy())
        wanted = plain_joint(net, encoded, labels[index])
        assert part.detach().numpy() == pytest.approx(wanted, abs=1e-9)


def test_forget_gates_start_by_keeping_and_weights_are_scaled() -> None:
    torch.manual_seed(0)
    whole = Transducer(SMALL)
    torch.manual_seed(0)
    half = Transducer(Sizes(**{**{f: getattr(SMALL, f) for f in SMALL.__slots__}, "scale": 0.5}))
    ours, theirs = half.before.state_dict(), whole.before.state_dict()
    assert torch.equal(ours["weight_hh_l1"], theirs["weight_hh_l1"] / 2)
    assert ours["bias_ih_l0"][5:10].tolist() == [0.5] * 5
    assert ours["bias_hh_l0"][5:10].tolist() == [0.0] * 5
    assert torch.equal(half.output.weight, whole.output.weight)


def plain_greedy(net: Transducer, features: Array, at_frame: int, most: int) -> list[int]:
    """One node after the other; every label from the whole history."""
    labels: list[int] = []
    encoded = plain_encoded(net, features)
    frame = 0
    while frame < len(encoded) and len(labels) <= most:
        for _ in range(at_frame):
            best = int(plain_joint(net, encoded[frame, None], labels)[0, -1].argmax())
            if best == net.sizes.blank:
                break
            labels.append(best)
        frame += 1
    return labels


@pytest.mark.parametrize(("at_frame", "most"), [(4, 300), (2, 300), (4, 3), (2, 3), (1, 9)])
def test_greedy_is_one_step_at_a_time(at_frame: int, most: int) -> None:
    net = model(seed=4)
    with torch.no_grad():
        net.output.bias.add_(torch.tensor([0.3, 0.0, 0.2, 0.35]))  # so that both are said often
    lengths = [44, 20, 43, 1]
    features = 3 * torch.randn(44, 4, SMALL.features, dtype=torch.float64)
    found = greedy(net, features, lengths, most_at_a_frame=at_frame, most_symbols=most)
    for index, length in enumerate(lengths):
        alone = features[:length, index].numpy()
        assert found[index] == plain_greedy(net, alone, at_frame, most)
    assert any(found)


def test_greedy_ends_where_only_labels_are_said() -> None:
    net = model()
    with torch.no_grad():
        net.output.bias[1] = 100.0
    features = torch.randn(8, 1, SMALL.features, dtype=torch.float64)
    (found,) = greedy(net, features, [8], most_at_a_frame=5, most_symbols=300)
    assert found == [1] * 5 * 4
