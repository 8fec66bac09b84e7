"""Sound to features on the device: log-mel spectrogram, SpecAugment, stacked frames (PyTorch).

As in the MLPerf RNN-T reference: dither, pre-emphasis, power spectrum of 20 ms Hann windows every
10 ms by a transform of 512 points, 80 triangular filters on Slaney's mel scale, the logarithm,
each feature to mean 0 and deviation 1 over its utterance; three frames side by side for every
third. SpecAugment masks bands and spans (Park et al. 2019, arXiv:1904.08779), the spans' length
being a share of the utterance (Park et al. 2019, arXiv:1912.05533).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["SAMPLE_RATE", "LogMel", "SpecAugment", "stacked"]

SAMPLE_RATE = 16_000
_WINDOW = 320
_HOP = 160
_TRANSFORM = 512
_PRE_EMPHASIS = 0.97
_LEAST_ENERGY = 1e-20
_LEAST_DEVIATION = 1e-5


class LogMel:
    """Waveforms to normalised log-mel features.

    Args:
        filters: Mel filters.
        dither: Deviation of the noise that is added, as a share of full scale.
        device: Where it works.
    """

    def __init__(self, *, filters: int, dither: float, device: torch.device) -> None:
        self._dither, self._filters = dither, _mel(filters).to(device)
        self._window = torch.hann_window(_WINDOW, device=device)

    @staticmethod
    def frames(samples: int) -> int:
        """Frames of so many samples of sound."""
        return -(-samples // _HOP)

    @torch.no_grad()
    def __call__(self, sound: Tensor, samples: Sequence[int]) -> Tensor:
        """Features of a batch; beyond an utterance's end they are 0.

        Args:
            sound: (B, S), -1 to 1, padded with zeros.
            samples: Valid samples of each.

        Returns:
            (B, frames of the longest, filters), float32.
        """
        sound = functional.pad(sound.float(), (0, _TRANSFORM))  # a frame for each hop begun
        if self._dither:
            sound = sound + self._dither * torch.randn_like(sound)
        sound = torch.cat([sound[:, :1], sound[:, 1:] - _PRE_EMPHASIS * sound[:, :-1]], 1)
        spectrum = torch.stft(
            sound,
            _TRANSFORM,
            _HOP,
            _WINDOW,
            self._window,
            return_complex=True,
        )
        frames = torch.tensor([self.frames(count) for count in samples], device=sound.device)
        power = torch.view_as_real(spectrum[:, :, : self.frames(max(samples))]).square().sum(3)
        energy = (power.transpose(1, 2) @ self._filters).add_(_LEAST_ENERGY).log_()
        return _normalised(energy, frames)


def _normalised(energy: Tensor, frames: Tensor) -> Tensor:
    """Each feature to mean 0 and deviation 1 over the valid frames; 0 beyond them."""
    valid = (torch.arange(energy.shape[1], device=energy.device) < frames[:, None])[:, :, None]
    count = frames[:, None, None]
    mean = torch.where(valid, energy, 0.0).sum(1, keepdim=True) / count
    centred = torch.where(valid, energy - mean, 0.0)
    variance = centred.square().sum(1, keepdim=True) / (count - 1).clamp(min=1)
    return centred / (variance.sqrt() + _LEAST_DEVIATION)


def _mel(filters: int) -> Tensor:
    """(frequencies, filters), float32, on Slaney's scale, of equal area."""
    from transformers.audio_utils import mel_filter_bank

    bank = mel_filter_bank(
        num_frequency_bins=_TRANSFORM // 2 + 1,
        num_mel_filters=filters,
        min_frequency=0.0,
        max_frequency=SAMPLE_RATE / 2,
        sampling_rate=SAMPLE_RATE,
        norm="slaney",
        mel_scale="slaney",
    )
    return torch.from_numpy(bank).float()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecAugment:
    """Random bands and spans set to 0, the mean.

    Attributes:
        bands: Masked bands of each utterance.
        widest_band: Largest width of one, in features; the least is 0.
        spans: Masked spans of each utterance.
        longest_span: Largest length of one, as a share of the utterance.
    """

    bands: int
    widest_band: int
    spans: int
    longest_span: float

    @torch.no_grad()
    def __call__(self, features: Tensor, frames: Tensor) -> Tensor:
        """Masked features.

        Args:
            features: (B, T, features).
            frames: int64, (B,). Valid frames, on the same device.
        """
        batch, length, width = features.shape
        masked = (
            _spans(self.bands, features.new_full((batch,), self.widest_band), width, width)[
                :, None, :
            ]
            | _spans(self.spans, (self.longest_span * frames).round(), length, frames[:, None])[
                :, :, None
            ]
        )
        return features.masked_fill(masked, 0.0)


def _spans(count: int, longest: Tensor, length: int, within: Tensor | int) -> Tensor:
    """(B, length): whether a place lies in one of ``count`` random spans of each row."""
    device = longest.device
    shape = (len(longest), count)
    size = (torch.rand(shape, device=device) * (longest[:, None] + 1)).floor()
    start = (torch.rand(shape, device=device) * (within - size + 1).clamp(min=1)).floor()
    place = torch.arange(length, device=device)
    return ((place >= start[:, :, None]) & (place < (start + size)[:, :, None])).any(1)


def stacked(features: Tensor, count: int) -> Tensor:
    """Every ``count`` frames side by side as one: (B, T, F) to (T / count, B, count * F)."""
    batch, length, width = features.shape
    padded = functional.pad(features, (0, 0, 0, -length % count))
    return padded.reshape(batch, -1, count * width).transpose(0, 1)
