import numpy as np
import pytest
import torch
from transformers.audio_utils import mel_filter_bank, spectrogram

from trainmark.training.data.log_mel import LogMel, SpecAugment, stacked

CPU = torch.device("cpu")


def log_mel(filters: int = 80) -> LogMel:
    return LogMel(filters=filters, dither=0.0, device=CPU)


def test_it_is_the_spectrogram_of_another_library() -> None:
    sound = 0.1 * torch.randn(16_000)
    sharpened = sound.clone()
    sharpened[1:] -= 0.97 * sound[:-1]
    window = np.zeros(512)
    window[96:416] = np.hanning(321)[:-1]
    other = spectrogram(
        sharpened.numpy(),
        window,
        512,
        160,
        512,
        power=2.0,
        mel_filters=mel_filter_bank(
            257, 80, 0.0, 8000.0, 16_000, norm="slaney", mel_scale="slaney"
        ),
        mel_floor=1e-20,
        log_mel="log",
    ).T[:100]
    other = (other - other.mean(0)) / other.std(0, ddof=1)
    ours = log_mel()(sound[None], [16_000])[0].numpy()
    # At the very end the other library mirrors the sound where ours has silence.
    assert ours.shape == (100, 80)
    assert ours[:97] == pytest.approx(other[:97], abs=0.05)


def test_every_feature_has_mean_0_and_deviation_1() -> None:
    features = log_mel()(0.1 * torch.randn(1, 20_000), [20_000])[0]
    assert features.shape == (125, 80)
    assert features.mean(0).abs().max() < 1e-4
    assert features.std(0) == pytest.approx(torch.ones(80), abs=1e-3)


def test_an_utterance_does_not_feel_the_others_of_its_batch() -> None:
    short, long = 0.1 * torch.randn(1, 9_000), torch.randn(1, 16_000)
    batch = torch.cat([torch.nn.functional.pad(short, (0, 7_000)), long])
    together = log_mel()(batch, [9_000, 16_000])[0]
    frames = LogMel.frames(9_000)
    assert torch.allclose(together[:frames], log_mel()(short, [9_000])[0], atol=1e-5)
    assert not together[frames:].any()


def test_silence_is_finite() -> None:
    assert log_mel()(torch.zeros(1, 500), [500]).isfinite().all()
    assert log_mel()(torch.zeros(1, 1), [1]).isfinite().all()


def test_masks_keep_to_their_sizes_and_to_the_utterance() -> None:
    torch.manual_seed(0)
    masks = SpecAugment(bands=1, widest_band=5, spans=1, longest_span=0.2)
    frames = torch.tensor([50, 100] * 50)
    masked = masks(torch.ones(100, 100, 40), frames) == 0
    bands = masked.all(1).sum(1)
    spans = masked.all(2).sum(1)
    assert 0 <= int(bands.min()) < int(bands.max()) <= 5
    assert int(spans[frames == 50].max()) <= 10
    assert 10 < int(spans[frames == 100].max()) <= 20
    assert not masked[::2, 50:].all(2).any()  # no span beyond an utterance's end


def test_no_masks_change_nothing() -> None:
    features = torch.randn(2, 30, 8)
    none = SpecAugment(bands=0, widest_band=5, spans=0, longest_span=0.2)
    assert torch.equal(none(features, torch.tensor([30, 20])), features)


def test_frames_are_stacked_in_their_order() -> None:
    features = torch.arange(7.0)[None, :, None].expand(2, 7, 1)
    assert stacked(features, 3)[:, 0].tolist() == [[0, 1, 2], [3, 4, 5], [6, 0, 0]]
    assert stacked(features, 3).shape == (3, 2, 3)
