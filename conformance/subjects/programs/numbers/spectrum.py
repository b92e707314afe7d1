"""Programs of the values of short-time Fourier transforms, their inverses, cosine transforms."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import caught, run

__all__ = ["BEHAVIOURS"]

_SIGNAL = np.sin(np.arange(40, dtype=np.float32) * 0.7) + np.cos(np.arange(40) * 0.2)


def _signal(tf):
    return tf.constant(_SIGNAL.astype(np.float32))


def _short_time(tf):
    signal = tf.signal
    stft = signal.stft(_signal(tf), 8, 4)
    padded = signal.stft(_signal(tf), 6, 5, fft_length=16, pad_end=True)
    bare = signal.stft(_signal(tf), 8, 8, window_fn=None)
    batch = signal.stft(tf.stack([_signal(tf), -_signal(tf)]), 8, 4)
    back = signal.inverse_stft(stft, 8, 4, window_fn=signal.inverse_stft_window_fn(4))
    return [
        run(tf, [stft, padded, bare, batch, back]),
        run(tf, signal.inverse_stft(padded, 6, 5, fft_length=16)),
        run(tf, signal.inverse_stft(bare, 8, 8, window_fn=None)),
        caught(lambda: signal.stft(tf.constant(1.0), 8, 4)),
        caught(lambda: signal.inverse_stft(tf.constant([1.0]), 8, 4)),
    ]


def _overlapping(tf):
    signal = tf.signal
    frames = signal.frame(_signal(tf), 8, 3)
    return run(
        tf,
        [
            frames,
            signal.frame(_signal(tf), 8, 3, pad_end=True, pad_value=9.0),
            signal.overlap_and_add(frames, 3),
            signal.frame(tf.reshape(_signal(tf), [8, 5]), 3, 2, axis=0),
        ],
    )


def _cosines(tf):
    signal = tf.signal
    mdct = signal.mdct(_signal(tf), 16)
    kaiser = signal.mdct(_signal(tf), 8, window_fn=signal.kaiser_bessel_derived_window)
    return run(
        tf,
        [
            mdct,
            signal.inverse_mdct(mdct),
            kaiser,
            signal.inverse_mdct(kaiser, window_fn=signal.kaiser_bessel_derived_window),
            signal.mdct(_signal(tf), 16, norm="ortho"),
            signal.mfccs_from_log_mel_spectrograms(tf.reshape(_signal(tf), [4, 10])),
        ],
    )


def _windows(tf):
    signal = tf.signal
    names = (
        "hann_window",
        "hamming_window",
        "vorbis_window",
        "kaiser_window",
        "kaiser_bessel_derived_window",
    )
    windows = [getattr(signal, name)(length) for name in names for length in (2, 8)]
    inverse = signal.inverse_stft_window_fn(4)
    of_any_size = tf.placeholder(tf.float32, [None])
    return [
        run(tf, windows),
        run(tf, [inverse(8, tf.float32), inverse(8, tf.float64)]),
        run(tf, [signal.hann_window(7, periodic=False), signal.hamming_window(1)]),
        caught(lambda: signal.hann_window([2, 3])),
        caught(lambda: signal.vorbis_window(3, dtype=tf.int32)),
        caught(lambda: run(tf, signal.irfft(tf.zeros([0, 3], tf.complex64), [4]))),
        caught(lambda: run(tf, signal.dct(of_any_size), {of_any_size: [1.0, 2.0, 3.0]})),
        *(
            caught(lambda s=shape: run(tf, signal.rfft(tf.zeros(s), fft_length=[0])))
            for shape in ([2, 0], [0, 2])
        ),
    ]


BEHAVIOURS = {
    "short time": _short_time,
    "overlapping frames": _overlapping,
    "cosine transforms": _cosines,
    "windows": _windows,
}
