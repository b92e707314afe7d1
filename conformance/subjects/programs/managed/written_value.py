"""Programs of rare summary operations for sounds and tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.imported_nodes import run_node
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder

__all__ = ["BEHAVIOURS"]


def _sounds_of_a_fixed_rate(tf):
    """`AudioSummary` of the first releases, whose sample rate is an attribute."""
    mono = np.array([[0.0, 0.5, -0.5, 1.0], [1.0, -1.0, 0.25, 2.0]], "float32")
    stereo = np.stack([mono, -mono], axis=2)

    def written(sounds, rate: float, outputs: int = 3, tag=b"t", **given):
        attrs = {"sample_rate": rate, "max_outputs": outputs}
        (summary,) = run_node(tf, "AudioSummary", [tag, sounds], attrs, **given)
        return [
            [
                value.tag,
                value.audio.sample_rate,
                value.audio.num_channels,
                value.audio.length_frames,
                value.audio.content_type,
                value.audio.encoded_audio_string,
            ]
            for value in tf.Summary.FromString(summary).value
        ]

    return attempt(
        lambda: written(mono, 8000.0, producer=14),
        lambda: written(stereo, 11025.5, producer=14),
        lambda: written(mono, 44100.0, 1, producer=14),
        lambda: written(mono, 0.0, producer=14),
        lambda: written(mono, -1.0, producer=14),
        lambda: written(mono[0], 1.0, producer=14),
        lambda: written(mono, 8000.0, tag=[b"a", b"b"], producer=14),
        lambda: written(mono, 8000.0, producer=15),
        lambda: written(mono, 8000.0),
        lambda: run(tf, tf.raw_ops.AudioSummary(tag="t", tensor=mono, sample_rate=8000.0)),
    )


@in_a_folder
def _tensors_with_metadata(tf):
    """`WriteSummary` with metadata, and with bytes that are no valid metadata."""
    raw, metadata = tf.raw_ops, tf.SummaryMetadata(display_name="shown")
    metadata.plugin_data.plugin_name = "spec"
    metadata.plugin_data.content = b"\0\1"
    writer = raw.SummaryWriter(shared_name="w", container="")
    opened = raw.CreateSummaryFileWriter(
        writer=writer, logdir="d", max_queue=1, flush_millis=10, filename_suffix=".end"
    )
    values = {
        "described": (tf.constant([1, 2]), metadata.SerializeToString()),
        "bare": (tf.constant(["a"]), b""),
        "bad": (tf.constant(1.5), b"\x0a\xff"),
    }
    with tf.Session() as session:
        session.run(opened)
        outcomes = attempt(
            *(
                lambda t=tag, v=value, d=data, s=step: session.run(
                    raw.WriteSummary(
                        writer=writer,
                        step=tf.constant(s, tf.int64),
                        tensor=v,
                        tag=t,
                        summary_metadata=d,
                    )
                )
                for step, (tag, (value, data)) in enumerate(values.items())
            ),
            lambda: session.run(raw.CloseSummaryWriter(writer=writer)),
        )
    events = [
        [
            event.step,
            value.tag,
            value.tag == "bad" or str(value.metadata),
            tf.make_ndarray(value.tensor),
        ]
        for path in sorted(Path("d").glob("*.end"))
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
    ]
    return outcomes, events


BEHAVIOURS = {
    "sounds_of_a_fixed_rate": _sounds_of_a_fixed_rate,
    "tensors_with_metadata": _tensors_with_metadata,
}
