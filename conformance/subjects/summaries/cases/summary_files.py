"""Vectors of SUMMARIES on the API surface: images, names, collections, event files."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import ApiAuthor, api_case
from sessrun.spec.forms import Json
from sessrun.spec.proto.summary_pb2 import Event, SessionLog, Summary

_VERSION = [0, "file_version", "brain.Event:2"]
_NAN = float("nan")


def _summary(tag: str, number: float, shown: str = "") -> bytes:
    value = Summary.Value(tag=tag, simple_value=number)
    if shown:
        value.metadata.display_name = shown
    return Summary(value=[value]).SerializeToString()


def _float32(values: npt.ArrayLike) -> np.ndarray:
    return np.array(values, np.float32)


def _row(*values: float, dtype: npt.DTypeLike = np.float32) -> np.ndarray:
    return np.array(values, dtype).reshape(1, 1, -1, 1)


def _seen(c: ApiAuthor, image: np.ndarray, numbers: list[int], tag: str = "seen/image/0") -> None:
    size = list(image.shape[1:])
    c.named_check("summaries.pixels", [[tag, *size, numbers]], image=image)


# --- images -------------------------------------------------------------------------------


@api_case("SUMMARIES-018", title="Grey, RGB and RGBA of uint8.")
def bytes_are_kept(c: ApiAuthor) -> None:
    for depth in (1, 3, 4):
        image = np.arange(7, 7 + 12 * depth, dtype=np.uint8).reshape(1, 4, 3, depth)
        image[0, 1, 1] = 255
        image[0, 2, 0] = 0
        _seen(c, image, image.reshape(-1).tolist())


@api_case("SUMMARIES-019", title="Floats that are not negative, of three dtypes.")
def floats_are_scaled_up(c: ApiAuthor) -> None:
    for dtype in (np.float16, np.float32, np.float64):
        _seen(c, _row(0, 1, 2, 4, dtype=dtype), [0, 63, 127, 255])
    _seen(c, _row(0, 1e-7), [0, 0])
    _seen(c, _row(5, 10, 25500), [0, 0, 255])


@api_case("SUMMARIES-020", title="Floats of which one is negative.")
def floats_around_zero(c: ApiAuthor) -> None:
    for dtype in (np.float16, np.float32, np.float64):
        _seen(c, _row(-1, 0, 1, 4, dtype=dtype), [96, 128, 159, 255])
    _seen(c, _row(-4, 0, 2), [1, 128, 191])


@api_case("SUMMARIES-021", title="A grey pixel that is NaN, one of RGB, and one of RGBA.")
def bad_pixels_are_red(c: ApiAuthor) -> None:
    _seen(c, _row(_NAN, 1, 4, float("inf")), [255, 63, 255, 255])
    rgb = np.array([[[[1, _NAN, 1], [0, 2, 4]]]], np.float32)
    _seen(c, rgb, [255, 0, 0, 0, 127, 255])
    rgba = np.array([[[[4, 4, 4, 4], [0, 0, 0, float("-inf")]]]], np.float32)
    _seen(c, rgba, [255, 255, 255, 255, 255, 0, 0, 255])


@api_case("SUMMARIES-016", title="Images are numbered, but where there may be only one.")
def images_are_numbered(c: ApiAuthor) -> None:
    image = np.zeros((4, 1, 1, 1), np.uint8)
    want = [[f"seen/image/{i}", 1, 1, 1, [0]] for i in range(3)]
    c.named_check("summaries.pixels", want, image=image)
    c.named_check("summaries.pixels", want[:2], image=image[:2])
    one = [["seen/image", 1, 1, 1, [0]]]
    c.named_check("summaries.pixels", one, image=image, max_outputs=1)


# --- names and collections ----------------------------------------------------------------


@api_case("SUMMARIES-022", title="Scopes and a family in names and tags.")
def names_and_tags(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.name_scope("a")):
        plain = tf.summary.scalar("b", 1.0)
        kin = tf.summary.scalar("b", 1.0, family="f")
        again = tf.summary.scalar("b", 1.0, family="f")
    for summary, name, tag in (
        (plain, "a/b", "a/b"),
        (kin, "a/f/b", "f/a/f/b"),
        (again, "a/f/b_1", "f/a/f/b_1"),
    ):
        c.check(summary.op.name, name)
        c.check(tf.Session().run([summary]), [_summary(tag, 1.0)])


@api_case("SUMMARIES-022", title="The tag of a histogram and of a tensor.")
def other_tags(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.name_scope("a")):
        spread = tf.summary.histogram("b", _float32([1]), family="f")
        text = tf.summary.text("t", tf.constant("x"))
    c.check(spread.op.name, "a/f/b")
    c.check(tf.Session().run(spread.op.inputs[0]), b"f/a/f/b")
    c.check(text.op.name, "a/t")
    c.check(tf.Session().run(text.op.inputs[0]), b"a/t")


@api_case("SUMMARIES-023", title="Spaces, marks and slashes in names.")
def odd_names(c: ApiAuthor) -> None:
    for name, want in (("a b", "a_b"), ("//a/b", "a/b"), ("x:y^z$", "x_y_z_"), ("q.r-s", "q.r-s")):
        c.check(c.tf.summary.scalar(name, 1.0).op.name, want)


@api_case("SUMMARIES-024", title="The collection of summaries, and others.")
def collections_of_summaries(c: ApiAuthor) -> None:
    tf = c.tf
    first = tf.summary.scalar("a", 1.0)
    other = tf.summary.histogram("b", _float32([1]), collections=["mine", "yours"])
    tf.summary.text("c", tf.constant("x"), collections=[])
    for key, want in ((tf.GraphKeys.SUMMARIES, first), ("mine", other), ("yours", other)):
        members = tf.get_collection(key)
        c.check(c.expr("$len", members), 1)
        c.check_same(members[0], want)


@api_case("SUMMARIES-025", title="All summaries merged, those of a collection, and none.")
def all_merged(c: ApiAuthor) -> None:
    tf = c.tf
    c.check(tf.summary.merge_all(), None)
    tf.summary.scalar("a", 1.0)
    tf.summary.scalar("b", 2.0)
    tf.summary.scalar("c", 3.0, collections=["mine"])
    sess = tf.Session()
    both = Summary.FromString(_summary("a", 1.0) + _summary("b", 2.0)).SerializeToString()
    c.check(sess.run(tf.summary.merge_all()), both)
    c.check(sess.run(tf.summary.merge_all("mine")), _summary("c", 3.0))
    c.check(tf.summary.merge_all("yours"), None)


@api_case("SUMMARIES-026", title="Only the summaries of a scope are merged.")
def merged_of_a_scope(c: ApiAuthor) -> None:
    tf = c.tf
    tf.summary.scalar("a", 1.0)
    with c.within(tf.name_scope("inner")):
        tf.summary.scalar("b", 2.0)
    merged = tf.summary.merge_all(scope="inner")
    c.check(tf.Session().run(merged), _summary("inner/b", 2.0))
    c.check(tf.summary.merge_all(scope="other"), None)


@api_case("SUMMARIES-027", title="A text of numbers.")
def text_of_numbers(c: ApiAuthor) -> None:
    tf = c.tf
    number = tf.constant(1)
    c.raises("ValueError", lambda: tf.summary.text("t", number))


# --- event files --------------------------------------------------------------------------


def _events(c: ApiAuthor, folder: str, *files: list[Json]) -> None:
    c.named_check("summaries.events", list(files), folder=c.path(folder))


@api_case("SUMMARIES-028", title="The first event of a file says its version.")
def the_version_comes_first(c: ApiAuthor) -> None:
    writer = c.tf.summary.FileWriter(c.path("logs"))
    writer.add_summary(_summary("a", 1.5), 3)
    writer.close()
    want = [[_VERSION, [3, "summary", [["a", 1.5, ""]]]]]
    c.named_check("summaries.events", want, folder=c.path("logs"), first=0)


@api_case("SUMMARIES-029", title="Events in order, with their steps.")
def events_in_order(c: ApiAuthor) -> None:
    writer = c.tf.summary.FileWriter(c.path("logs"), max_queue=2)
    steps = [5, 1, None, 2**40, -3, 7, 8]
    for number, step in enumerate(steps):
        writer.add_summary(_summary("a", float(number)), step)
    writer.close()
    events: list[Json] = [
        [step or 0, "summary", [["a", float(i), ""]]] for i, step in enumerate(steps)
    ]
    _events(c, "logs", [*events])


@api_case("SUMMARIES-030", title="What was flushed is there before the writer is closed.")
def flushed_events_are_there(c: ApiAuthor) -> None:
    writer = c.tf.summary.FileWriter(c.path("logs"))
    events: list[Json] = []
    for step in (1, 2, 3):
        writer.add_summary(_summary("a", float(step)), step)
        events.append([step, "summary", [["a", float(step), ""]]])
    writer.flush()
    _events(c, "logs", [*events])
    writer.add_summary(_summary("b", 4.0), 4)
    writer.flush()
    _events(c, "logs", [*events, [4, "summary", [["b", 4.0, ""]]]])
    writer.close()


@api_case("SUMMARIES-031", title="The metadata of a tag are written once.")
def metadata_are_written_once(c: ApiAuthor) -> None:
    writer = c.tf.summary.FileWriter(c.path("logs"))
    for tag in ("a", "b", "a"):
        writer.add_summary(_summary(tag, 1.0, "shown"), 1)
    writer.close()
    events: list[Json] = [
        [1, "summary", [[tag, 1.0, shown]]]
        for tag, shown in (("a", "shown"), ("b", "shown"), ("a", ""))
    ]
    _events(c, "logs", [*events])


@api_case("SUMMARIES-032", title="What is added after the end is not written.")
def a_closed_writer(c: ApiAuthor) -> None:
    writer = c.tf.summary.FileWriter(c.path("logs"))
    writer.add_summary(_summary("a", 1.0), 1)
    writer.close()
    writer.add_summary(_summary("b", 2.0), 2)
    writer.close()
    _events(c, "logs", [[1, "summary", [["a", 1.0, ""]]]])


@api_case("SUMMARIES-033", title="Two runs of one tag.")
def a_run_twice(c: ApiAuthor) -> None:
    writer = c.tf.summary.FileWriter(c.path("logs"))
    metadata = c.tf.RunMetadata()
    writer.add_run_metadata(metadata, "first", 1)
    c.raises("ValueError", lambda: writer.add_run_metadata(metadata, "first", 2))
    writer.add_run_metadata(metadata, "second", 3)
    writer.close()
    events: list[Json] = [[1, "tagged_run_metadata", "first"], [3, "tagged_run_metadata", "second"]]
    _events(c, "logs", [*events])


@api_case("SUMMARIES-034", title="The graph of a writer comes before what is added.")
def the_graph_of_a_writer(c: ApiAuthor) -> None:
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        c.tf.constant(1.0, name="one")
    writer = c.tf.summary.FileWriter(c.path("logs"), graph)
    writer.add_summary(_summary("a", 1.0), 1)
    writer.close()
    events: list[Json] = [
        [0, "graph_def", [["one", True]]],
        [0, "meta_graph_def", None],
        [1, "summary", [["a", 1.0, ""]]],
    ]
    _events(c, "logs", [*events])


@api_case("SUMMARIES-035", title="One folder has one writer, another folder another.")
def writers_of_folders(c: ApiAuthor) -> None:
    cache = c.tf.summary.FileWriterCache
    first = cache.get(c.path("one"))
    c.check_same(cache.get(c.path("one")), first)
    c.check_same(cache.get(c.path("two")), first, same=False)
    cache.clear()
    c.check_same(cache.get(c.path("one")), first, same=False)
    cache.clear()


def _record(event: Event, flip: int = 0) -> bytes:
    """The record of an event, its checksums computed bit by bit; `flip` damages its data."""
    data = event.SerializeToString()
    length = len(data).to_bytes(8, "little")
    damaged = bytes([data[0] ^ flip]) + data[1:]
    return length + _checksum(length) + damaged + _checksum(data)


def _checksum(data: bytes) -> bytes:
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    state ^= 0xFFFFFFFF
    turned = (state >> 15 | state << 17) & 0xFFFFFFFF
    return ((turned + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")


_FIRST = Event(wall_time=1.5, file_version="brain.Event:2")
_SECOND = Event(step=7, summary=Summary(value=[Summary.Value(tag="a", simple_value=2.5)]))
_THIRD = Event(step=9, session_log=SessionLog(status=SessionLog.STOP))


_LOGGED = [_VERSION, [7, "summary", [["a", 2.5, ""]]], [9, "session_log", None]]


@api_case("SUMMARIES-036", title="The events of a file, one by one.")
def events_are_read(c: ApiAuthor) -> None:
    data = b"".join(map(_record, (_FIRST, _SECOND, _THIRD)))
    c.named_check("summaries.read", _LOGGED, path=c.file("events", data))
    c.named_check("summaries.read", [], path=c.file("empty", b""))


@api_case("SUMMARIES-037", title="An event of which one bit is turned, and a checksum.")
def a_damaged_event(c: ApiAuthor) -> None:
    data = _record(_FIRST) + _record(_SECOND, flip=1) + _record(_THIRD)
    want = [_VERSION, "DataLossError"]
    c.named_check("summaries.read", want, path=c.file("events", data))
    data = _record(_FIRST) + _record(_SECOND)
    damaged = data[:-1] + bytes([data[-1] ^ 128])
    c.named_check("summaries.read", want, path=c.file("other", damaged))
