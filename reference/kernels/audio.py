"""Kernels of sounds: WAV files read and written, spectrograms, cepstral coefficients."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.kernels.host import HOST, scalar_int, string_array
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.summaries import wav

_CPU: Final = ("CPU",)
#: The format of uncompressed integers, its bits, and what a sample of 1 is.
_INTEGERS: Final = 1
_BITS: Final = 16
_FULL: Final = 1 << 15
#: The least energy whose logarithm is taken.
_FLOOR: Final = 1e-12


def _bad(reason: str) -> KernelError:
    return InvalidArgument(reason)


def _chunks(content: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The chunks of a WAV file: name, where the data begins, its length."""
    if len(content) < 12 or content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        raise _bad("Header mismatch: Expected RIFF and WAVE")
    position = 12
    while position < len(content):
        if position + 8 > len(content):
            raise _bad("Data too short when trying to read chunk")
        name, size = struct.unpack_from("<4sI", content, position)
        yield name, position + 8, size
        position += 8 + size


def _format(content: bytes, begin: int, size: int) -> tuple[int, int]:
    """The number of channels and the sample rate that the format chunk declares."""
    if size not in {16, 18} or begin + 16 > len(content):
        raise _bad("Bad file size for WAV: Expected 16 or 18")
    kind, channels, rate, byte_rate, width, bits = struct.unpack_from("<HHIIHH", content, begin)
    if kind != _INTEGERS or channels < 1:
        raise _bad("Bad audio format for WAV: Expected 1 (PCM)")
    if bits != _BITS:
        raise _bad(f"Can only read 16-bit WAV files, but received {bits}")
    if width != channels * _BITS // 8 or byte_rate != rate * width:
        raise _bad(f"Bad bytes per sample in WAV header: {width}, {byte_rate}")
    return channels, rate


def _samples(content: bytes) -> tuple[Array, int]:
    """The integers of a file, [samples, channels], and its rate."""
    channels = rate = 0
    samples = None
    for name, begin, size in _chunks(content):
        if name == b"fmt ":
            channels, rate = _format(content, begin, size)
        elif name == b"data" and samples is None:
            if not channels:
                raise _bad("Bad channel count for WAV: no format")
            if begin + size > len(content):
                raise _bad("Data too short when trying to read string")
            count = size // (channels * _BITS // 8)
            samples = HOST.frombuffer(content, "<i2", count * channels, begin)
    if samples is None:
        raise _bad("No data chunk found in WAV")
    return samples.reshape(-1, channels), rate


def _fitted(samples: Array, count: int, axis: int) -> Array:
    """The samples cut or padded to `count` along the axis; unchanged for a count of -1."""
    if count == -1 or samples.shape[axis] == count:
        return samples
    if samples.shape[axis] > count:
        return samples[:count] if axis == 0 else samples[:, :count]
    widths = [(0, 0), (0, 0)]
    widths[axis] = (0, count - samples.shape[axis])
    # A channel that is missing sounds as the first one does.
    return HOST.pad(samples, widths, mode="edge" if axis else "constant")


@kernel("DecodeWav", devices=_CPU)
def decode_wav(
    _: ArrayModule, contents: Array | bytes, *, desired_channels: int, desired_samples: int
) -> tuple[Array, Array]:
    """Samples from -1 to 1, [samples, channels], and their rate."""
    if not isinstance(contents, bytes) and contents.ndim:
        raise _bad(f"contents must be scalar, got shape {contents.shape}")
    content: bytes = contents if isinstance(contents, bytes) else contents.item()
    if len(content) > (1 << 31) - 1:
        raise _bad("WAV contents are too large for int")
    samples, rate = _samples(content)
    fitted = _fitted(_fitted(samples, desired_samples, 0), desired_channels, 1)
    return fitted.astype("float32") / HOST.float32(_FULL), HOST.array(rate, "int32")


@kernel("EncodeWav", devices=_CPU)
def encode_wav(_: ArrayModule, audio: Array, sample_rate: Array) -> Array:
    """A WAV file of 16 bits of samples from -1 to 1."""
    if audio.ndim != 2:
        raise _bad(f"audio must be 2-dimensional: {audio.shape}")
    if sample_rate.ndim:
        raise _bad(f"Input sample_rate should be a scalar tensor, got {sample_rate.shape}")
    return string_array([wav(audio, scalar_int(sample_rate))], ())


@kernel("AudioSpectrogram", devices=_CPU)
def audio_spectrogram(
    _: ArrayModule, audio: Array, *, window_size: int, stride: int, magnitude_squared: bool
) -> Array:
    """The spectrum of overlapping windows of the samples: [channels, windows, frequencies]."""
    if audio.ndim != 2:
        raise _bad(f"input must be 2-dimensional: {audio.shape}")
    if window_size < 2 or stride < 1:
        raise _bad(f"window size must be at least 2 and stride positive: {window_size}, {stride}")
    samples, channels = audio.shape
    count = 0 if samples < window_size else 1 + (samples - window_size) // stride
    length = 1 << (window_size - 1).bit_length()
    indices = HOST.arange(count)[:, None] * stride + HOST.arange(window_size)
    window = 0.5 - 0.5 * HOST.cos(2 * math.pi * HOST.arange(window_size) / window_size)
    parts = (
        audio.T.astype("float64")[:, indices] if count else HOST.zeros((channels, 0, window_size))
    )
    spectrum = HOST.fft.rfft(parts * window, length, axis=2)
    power = spectrum.real**2 + spectrum.imag**2
    return (power if magnitude_squared else HOST.sqrt(power)).astype("float32")


def _mel(frequency: float) -> Array:
    return 1127.0 * HOST.log1p(frequency / 700.0)


def _hertz(size: int, rate: float) -> float:
    """The distance in hertz between neighbouring frequencies of a spectrum of `size` of them."""
    return 0.5 * rate / (size - 1)


def _bank(size: int, rate: float, lower: float, upper: float, channels: int) -> Array:
    """The weights [frequencies, channels] of triangles evenly spaced on the mel scale."""
    low = _mel(lower)
    step = (_mel(upper) - low) / (channels + 1)
    centers = low + step * HOST.arange(1, channels + 2)
    hertz = _hertz(size, rate)
    first, last = int(1.5 + lower / hertz), int(upper / hertz)
    weights = HOST.zeros((size, channels))
    for frequency in range(first, last + 1):
        mel = _mel(frequency * hertz)
        band = int(HOST.searchsorted(centers, mel))  # the first center that is not below
        before = low if band == 0 else centers[band - 1]
        after = centers[band] if band <= channels else before + step
        share = (after - mel) / (after - before)
        if band > 0 and band - 1 < channels:
            weights[frequency, band - 1] += share
        if band < channels:
            weights[frequency, band] += 1 - share
    return weights


@kernel("Mfcc", devices=_CPU)
def mfcc(
    _: ArrayModule,
    spectra: Array,
    sample_rate: Array,
    *,
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> Array:
    """Cepstral coefficients: [channels, windows, coefficients]."""
    if spectra.ndim != 3:
        raise _bad(f"spectrogram must be 3-dimensional: {spectra.shape}")
    if sample_rate.ndim:
        raise _bad(f"Input sample_rate should be a scalar tensor, got {sample_rate.shape}")
    rate, channels = scalar_int(sample_rate), filterbank_channel_count
    if min(dct_coefficient_count, rate, spectra.shape[2] - 1) < 1 or not (
        dct_coefficient_count <= channels and 0 <= lower_frequency_limit < upper_frequency_limit
    ):
        raise _bad("Mfcc initialization failed")
    windows, size = spectra.shape[:2], spectra.shape[2]
    if int(upper_frequency_limit / _hertz(size, rate)) >= size:  # so TensorFlow has it
        return HOST.zeros((*windows, dct_coefficient_count), "float32")
    bank = _bank(size, rate, lower_frequency_limit, upper_frequency_limit, channels)
    energy = HOST.sqrt(spectra.astype("float64")) @ bank
    logs = HOST.log(HOST.maximum(energy, _FLOOR))
    angles = math.pi / channels * (HOST.arange(channels) + 0.5)
    cosines = HOST.cos(angles[:, None] * HOST.arange(dct_coefficient_count))
    return (logs @ (cosines * math.sqrt(2.0 / channels))).astype("float32")
