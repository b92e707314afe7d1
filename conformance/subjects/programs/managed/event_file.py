"""Programs of event files that a FileWriter writes and `summary_iterator` reads."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.png import pixels_of

__all__ = ["BEHAVIOURS"]


def _summary(tf, tag: str = "a"):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=1.0)])


def _events(tf, folder: str) -> list[list[str]]:
    """The events of each file as text, without wall times."""
    results = []
    for path in sorted(Path(folder).glob("*tfevents*")):
        events = list(tf.train.summary_iterator(str(path)))
        results.append([_shown(tf, event) for event in events])
    return results


def _shown(tf, event) -> str:
    """An event as text, with its graph, and with the pixels of its images instead of bytes."""
    event.ClearField("wall_time")
    images = [value.image for value in event.summary.value if value.HasField("image")]
    pixels = [pixels_of(image.encoded_image_string) for image in images]
    for image in images:
        image.ClearField("encoded_image_string")
    graph = tf.GraphDef.FromString(event.graph_def)
    if event.graph_def:
        event.graph_def = b""
    return f"{event}{graph}{[array.tolist() for array in pixels]}"


def _names(folder: str) -> list[str]:
    return [path.name for path in Path(folder).iterdir()]


def _steps(tf):
    with tempfile.TemporaryDirectory() as folder:
        with tf.summary.FileWriter(folder) as writer:
            add = writer.add_summary
            outcomes = attempt(
                *(
                    lambda step=step: add(_summary(tf), step)
                    for step in (1, 1.7, "3", None, -5, 2**70, float("nan"), [1])
                ),
                *(lambda bad=bad: add(bad) for bad in ("x", b"\xff", None, 3, tf.Event())),
                lambda: add(_summary(tf, "q").SerializeToString(), 2),
                lambda: add(b""),
            )
        return [outcomes, _events(tf, folder)]


def _kinds(tf):
    metadata, graph = tf.RunMetadata(), tf.Graph()
    with graph.as_default():
        tf.constant([1.5], name="one")
    log = tf.SessionLog(status=tf.SessionLog.CHECKPOINT, checkpoint_path="p", msg="m")
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.FileWriter(folder)
        outcomes = attempt(
            lambda: writer.add_session_log(log, 7),
            lambda: writer.add_session_log(None),
            lambda: writer.add_session_log(3),
            lambda: writer.add_run_metadata(metadata, "a", 1),
            lambda: writer.add_run_metadata(metadata, "a"),
            lambda: writer.add_graph(graph, 2),
            lambda: writer.add_run_metadata(None, "b"),
            lambda: writer.add_meta_graph(3),
            lambda: writer.add_meta_graph(tf.MetaGraphDef()),
            lambda: writer.add_graph(None),
            lambda: writer.add_graph(graph, graph_def=graph.as_graph_def()),
            lambda: writer.add_graph(graph.as_graph_def()),
            lambda: writer.add_graph(None, graph_def=graph),
            lambda: writer.add_event(tf.Event(step=3, wall_time=1.5, file_version="x")),
            writer.close,
            writer.close,
        )
        return [outcomes, _events(tf, folder)]


def _metadata(tf):
    summary = tf.Summary()
    for tag in ("x", "y", "x"):
        summary.value.add(tag=tag).metadata.display_name = "shown"
    with tempfile.TemporaryDirectory() as folder:
        with tf.summary.FileWriter(folder) as writer:
            writer.add_summary(summary)
            writer.add_summary(summary)
        return [str(summary), _events(tf, folder)]


def _files(tf):
    with tempfile.TemporaryDirectory() as folder:
        nested = tf.summary.FileWriter(f"{folder}/a/b")
        empty = _names(f"{folder}/a/b")
        nested.flush()
        nested.close()
        suffixed = tf.summary.FileWriter(Path(folder) / "c", filename_suffix=".end")
        ends = [name.endswith(".end") for name in _names(f"{folder}/c")]
        suffixed.close()
        Path(f"{folder}/file").touch()
        outcomes = attempt(
            lambda: tf.summary.FileWriter(f"{folder}/file"),
            lambda: tf.summary.FileWriter(folder, filename_suffix=3),
            lambda: list(tf.train.summary_iterator(f"{folder}/no")),
            lambda: list(tf.train.summary_iterator(f"{folder}/file")),
        )
        is_same_folder = suffixed.get_logdir() == f"{folder}/c"
        names = _names(f"{folder}/a/b")
        return [empty, names, ends, outcomes, is_same_folder, _events(tf, f"{folder}/c")]


def _shared(tf):
    cache = tf.summary.FileWriterCache
    with tempfile.TemporaryDirectory() as folder:
        first = cache.get(folder)
        same = cache.get(folder) is first
        cache.clear()
        second = cache.get(folder)
        cache.clear()
        return [same, second is first, second.get_logdir() == folder]


def _broken(tf):
    """An event that cannot be written: the next flush raises the error."""
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.FileWriter(folder)
        outcomes = attempt(lambda: writer.add_event("no event"), writer.flush, writer.flush)
        again = tf.summary.FileWriter(folder)
        return [outcomes, attempt(lambda: again.add_event(_summary(tf)), again.close, again.close)]


BEHAVIOURS = {
    f"event_files_{function.__name__.strip('_')}": function
    for function in (_steps, _kinds, _metadata, _files, _shared, _broken)
}
