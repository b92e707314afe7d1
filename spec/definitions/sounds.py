"""Definitions of files of sound: WAV with 16 bits a sample."""

from __future__ import annotations

import struct

import numpy as np

from sessrun.spec.definitions.base import Array, definition

__all__: list[str] = []


@definition("EncodeWav")
def _encode_wav(audio: Array, rate: Array) -> bytes:
    """The header of 44 bytes, then the samples of all channels at one time after the other."""
    channels = audio.shape[1]
    samples = np.clip(np.round(audio.astype(np.float64) * 2**15), -(2**15), 2**15 - 1)
    data: bytes = samples.astype("<i2").tobytes()
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, channels, int(rate)),
        *(int(rate) * channels * 2, channels * 2, 16, b"data", len(data)),
    )
    return header + data


@definition("DecodeWav")
def _decode_wav(contents: Array, *, desired_channels: int, desired_samples: int) -> list[Array]:
    """The samples as parts of 32,768, of channels that are asked for beyond them the last one."""
    file, at = contents[()], 12
    chunks = {}
    while at + 8 <= len(file):
        name, size = struct.unpack_from("<4sI", file, at)
        chunks[name] = file[at + 8 : at + 8 + size]
        at += 8 + size
    _, channels, rate = struct.unpack_from("<HHI", chunks[b"fmt "])
    samples = np.frombuffer(chunks[b"data"], "<i2").reshape(-1, channels) / np.float32(2**15)
    if desired_samples >= 0:
        missing = max(desired_samples - len(samples), 0)
        samples = np.pad(samples, ((0, missing), (0, 0)))[:desired_samples]
    if desired_channels >= 0:
        samples = samples[:, np.minimum(np.arange(desired_channels), channels - 1)]
    return [samples.astype(np.float32), np.array(rate, np.int32)]
