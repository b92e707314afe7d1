"""Programs of Fourier and cosine transforms, windows, frames, spectrograms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.subjects.programs.graphs_and_values import fed, shown
from sessrun.conformance.subjects.programs.program import Structure
from sessrun.spec.cases.namespace import Namespace

__all__ = ["BEHAVIOURS"]

_DRAW = np.random.RandomState(0)
_X = _DRAW.randn(2, 23).astype("f")
_Y = _DRAW.randn(2, 4, 6).astype("f")
_Z = _Y.astype("complex64")


def _called(names: str, *given, **options) -> list[Callable[[Namespace], Structure]]:
    """The calls of these functions of `tf.signal`."""
    return [
        lambda tf, name=name: getattr(tf.signal, name)(*given, **options) for name in names.split()
    ]


def _transforms(tf):
    calls = _called("fft ifft fft2d ifft2d fft3d ifft3d", _Z)
    for axes, mark in enumerate(("", "2d", "3d"), start=1):
        for length in (None, [4] * axes, [9] * axes, [2] * axes):
            calls += _called(f"rfft{mark}", _Y, length) + _called(f"irfft{mark}", _Z, length)
            for name, value in ((f"rfft{mark}", _Y), (f"irfft{mark}", _Z)):
                calls.append(
                    lambda tf, m=name, x=value, n=length: getattr(tf.signal, m)(fed(tf, x), n)
                )
        calls += _called(f"rfft{mark} irfft{mark}", _Y.astype("i"))
        calls += _called(f"rfft{mark}", _Y[0, 0, 0]) + _called(f"irfft{mark}", _Z[0, 0, 0])
    for moved in (None, 0, [0, -1], 1):
        calls += _called("fftshift ifftshift", _X, moved)
    return shown(tf, *calls)


def _slopes(tf):
    def slope(name: str, value, length) -> Callable[[Namespace], Structure]:
        def by_input(tf):
            given = fed(tf, value, value.shape)
            return tf.gradients(tf.real(getattr(tf.signal, name)(given, length)), given)

        return by_input

    calls = [
        slope(f"rfft{mark}", _Y, length)
        for mark in ("", "2d")
        for length in (None, [4, 4][: len(mark) or 1])
    ]
    calls += [slope(f"irfft{mark}", _Z, None) for mark in ("", "2d")]
    return shown(tf, *calls)


def _windows(tf):
    names = "hann_window hamming_window vorbis_window kaiser_window"
    calls = [call for size in (1, 2, 7, 8) for call in _called(names, size)]
    calls += _called(f"{names} kaiser_bessel_derived_window", 8, dtype=tf.int32)
    calls += _called(f"{names} kaiser_bessel_derived_window", [4])
    calls += _called("kaiser_bessel_derived_window", 8) + _called("hann_window", 8, periodic=False)
    calls += [
        lambda tf, name=name: getattr(tf.signal, name)(fed(tf, np.int32(6), []), dtype=tf.float64)
        for name in names.split()
    ]
    return shown(tf, *calls)


def _frames(tf):
    calls = []
    for length, step in ((5, 2), (4, 4), (6, 4), (30, 3)):
        for pad_end in (False, True):
            calls += _called("frame", _X, length, step, pad_end=pad_end)
            calls += _called("frame", _Y, length, step, pad_end=pad_end, axis=1, pad_value=7)
            calls.append(
                lambda tf, n=length, k=step, p=pad_end: tf.signal.frame(fed(tf, _X), n, k, p)
            )
    calls.append(lambda tf: tf.signal.frame(_X, fed(tf, np.int32(4), []), fed(tf, np.int32(2), [])))
    for step in (1, 3, 6, 7):
        calls += _called("overlap_and_add", _Y, step)
        calls.append(lambda tf, k=step: tf.signal.overlap_and_add(fed(tf, _Y), k))
    calls += [
        *_called("frame", 1.0, 2, 3),
        *_called("overlap_and_add", _Y, 1.0),
        *_called("overlap_and_add", _X[0], 1),
    ]
    return shown(tf, *calls)


def _cosines(tf):
    def call(name: str, dtype: str, **options) -> Callable[[Namespace], Structure]:
        return lambda tf: getattr(tf.signal, name)(tf.constant(_X.astype(dtype)), **options)

    calls = []
    for kind in (1, 2, 3, 4):
        for norm in (None, "ortho"):
            calls += [
                call("dct", "f", type=kind, norm=norm),
                call("idct", "d", type=kind, norm=norm),
                call("dct", "f", type=kind, norm=norm, n=4),
                call("idct", "f", type=kind, norm=norm, n=30),
            ]
        if kind < 4:  # others pack paddings of numbers and tensors differently
            calls.append(lambda tf, kind=kind: tf.signal.dct(fed(tf, _X, [None, None]), type=kind))
    calls += [
        call("dct", "f", type=5),
        call("dct", "f", axis=0),
        call("dct", "f", n=0),
        call("idct", "f", norm="z"),
    ]
    return shown(tf, *calls)


def _spectrograms(tf):
    def back(tf, length: int, step: int, frame_length: int | None = None, **options):
        return tf.signal.inverse_stft(
            tf.signal.stft(_X, length, step), frame_length or length, step, **options
        )

    return shown(
        tf,
        lambda tf: tf.signal.stft(_X, 8, 4),
        lambda tf: back(tf, 7, 3),
        lambda tf: back(tf, 7, 3, 12),
        lambda tf: tf.signal.stft(_X, 7, 3, fft_length=16, pad_end=True, window_fn=None),
        lambda tf: tf.signal.stft(fed(tf, _X), fed(tf, np.int32(8), []), 4),
        lambda tf: back(tf, 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4)),
        lambda tf: tf.signal.mdct(_X, 8),
        lambda tf: tf.signal.mdct(_X, 6),
        lambda tf: tf.signal.mdct(_X, 8, norm="ortho", window_fn=None, pad_end=True),
        lambda tf: tf.signal.inverse_mdct(tf.signal.mdct(_X, 8)),
        lambda tf: tf.signal.inverse_mdct(tf.signal.mdct(_X, 8), norm="ortho", window_fn=None),
        lambda tf: tf.signal.linear_to_mel_weight_matrix(num_mel_bins=0),
        lambda tf: tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=9000.0),
        lambda tf: tf.signal.mfccs_from_log_mel_spectrograms(_Y),
        lambda tf: tf.signal.mfccs_from_log_mel_spectrograms(fed(tf, _Y, [None, None, None])),
    )


def _mel(tf):
    # `tf.linspace` may be one operation or many: the nodes are not compared.
    return shown(
        tf,
        *_called("linear_to_mel_weight_matrix"),
        *_called("linear_to_mel_weight_matrix", 10, 33, 4000.0, 20.0, 1500.0, dtype=tf.float64),
        nodes=False,
    )


BEHAVIOURS = {
    "cosines": _cosines,
    "frames": _frames,
    "mel": _mel,
    "slopes": _slopes,
    "spectrograms": _spectrograms,
    "transforms": _transforms,
    "windows": _windows,
}
