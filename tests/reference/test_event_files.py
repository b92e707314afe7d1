"""Event files: many threads on one writer, errors while writing, and readers of others."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import sessrun.reference as tf
from sessrun.reference.kernels.png_files import png
from sessrun.reference.kernels.summaries import as_bytes
from sessrun.reference.library.summaries.event_file_writer import EventFileWriter

THREADS = 16
EACH = 400


def number(tag: str, value: float) -> Any:
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)])


def events(folder: Path) -> list[list[Any]]:
    paths = sorted(folder.glob("*tfevents*"))
    return [list(tf.train.summary_iterator(str(path))) for path in paths]


def together(*actions: Any) -> None:
    threads = [threading.Thread(target=action) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)


def test_sixteen_threads_lose_nothing_and_keep_their_order(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path), max_queue=3)

    def add(which: int) -> None:
        for step in range(EACH):
            writer.add_summary(number(f"thread{which}", step), step)
            if step % 97 == 0:
                writer.flush()

    together(*(lambda which=which: add(which) for which in range(THREADS)))
    writer.close()
    (found,) = events(tmp_path)
    steps: dict[str, list[int]] = {}
    for event in found[1:]:
        steps.setdefault(event.summary.value[0].tag, []).append(event.step)
    assert len(steps) == THREADS
    assert all(each == list(range(EACH)) for each in steps.values())


def test_a_flush_has_what_its_thread_added(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    missing: list[str] = []

    def add(which: int) -> None:
        for step in range(5):
            writer.add_summary(number(f"thread{which}", step), step)
            writer.flush()
            (found,) = events(tmp_path)
            mine = [e for e in found[1:] if e.summary.value[0].tag == f"thread{which}"]
            if len(mine) != step + 1:
                missing.append(f"thread {which} found {len(mine)} after {step + 1}")

    together(*(lambda which=which: add(which) for which in range(4)))
    writer.close()
    assert not missing


def test_closing_while_others_add_ends_all(tmp_path: Path) -> None:
    writer = EventFileWriter(str(tmp_path), max_queue=1)
    ended = threading.Event()

    def add() -> None:
        while not ended.is_set():
            writer.add_event(tf.Event(step=1))

    def end() -> None:
        for _ in range(20):
            writer.close()
            writer.reopen()
        writer.close()
        ended.set()

    together(add, add, end, writer.flush)
    assert all(file[0].file_version == "brain.Event:2" for file in events(tmp_path))


def test_files_of_one_second_are_not_written_over(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    for step in range(5):
        writer.add_summary(number("a", step), step)
        writer.close()
        writer.reopen()
    assert [file[1].step for file in events(tmp_path)] == list(range(5))


class BrokenDiskError(Exception):
    pass


def broken(writer: Any) -> None:
    def fail(_event: Any) -> None:
        raise BrokenDiskError

    writer.event_writer._worker._ev_writer.WriteEvent = fail


@pytest.mark.parametrize("method", ["flush", "close"])
def test_an_error_while_writing_comes_out(tmp_path: Path, method: str) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    broken(writer)
    writer.add_event(tf.Event())
    with pytest.raises(BrokenDiskError):
        getattr(writer, method)()
    writer.flush()  # it is closed now


def test_who_adds_to_a_full_queue_learns_of_the_error(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path), max_queue=1)
    broken(writer)

    def fill() -> None:
        for _ in range(4):
            writer.add_event(tf.Event())

    with pytest.raises(BrokenDiskError):
        fill()
    writer.add_event(tf.Event())  # closed: nothing happens


def test_a_png_file_is_read_by_others() -> None:
    image = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    with Image.open(io.BytesIO(png(image)), formats=["PNG"]) as read:
        assert np.asarray(read).tolist() == image.tolist()


def test_an_image_of_bad_pixels_has_one_colour() -> None:
    image = np.full((2, 2, 3), np.nan, np.float32)
    assert as_bytes(image, np.uint8([1, 2, 3, 4])).reshape(-1, 3).tolist() == [[1, 2, 3]] * 4


def test_tensorboard_reads_what_is_written(tmp_path: Path) -> None:
    board = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.summary.scalar("loss", 1.5)
        tf.summary.histogram("spread", [1.0, 2.0, 2.0])
        tf.summary.image("seen", np.zeros((1, 2, 2, 3), np.uint8), 1)
        tf.summary.audio("heard", [[0.5]], 8, 1)
        merged = session.run(tf.summary.merge_all())
        with tf.summary.FileWriter(str(tmp_path), graph) as writer:
            for step in range(3):
                writer.add_summary(merged, step)
    read = board.EventAccumulator(str(tmp_path))
    read.Reload()
    tags = read.Tags()
    assert (tags["scalars"], tags["histograms"]) == (["loss"], ["spread"])
    assert (tags["images"], tags["audio"]) == (["seen/image"], ["heard/audio"])
    assert [each.step for each in read.Scalars("loss")] == [0, 1, 2]
    assert read.Scalars("loss")[2].value == 1.5
    assert read.Histograms("spread")[0].histogram_value.num == 3
    assert [node.name for node in read.Graph().node][:1] == ["loss/tags"]


@pytest.mark.tensorflow
def test_events_go_both_ways(tmp_path: Path, theirs: Any) -> None:
    for name, one, other in (("ours", tf, theirs), ("theirs", theirs, tf)):
        folder = tmp_path / name
        with one.summary.FileWriter(str(folder)) as writer:
            value = one.Summary.Value(tag="a", simple_value=2.5)
            writer.add_summary(one.Summary(value=[value]), 7)
            writer.add_session_log(one.SessionLog(status=one.SessionLog.STOP), 8)
        (path,) = folder.iterdir()
        found = list(other.train.summary_iterator(str(path)))
        assert [event.step for event in found] == [0, 7, 8]
        assert found[0].file_version == "brain.Event:2"
        assert found[1].summary.value[0].simple_value == 2.5
        assert found[2].session_log.status == other.SessionLog.STOP
