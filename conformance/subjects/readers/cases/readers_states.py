"""Vectors of READERS on the engine surface: what a reader keeps, shares, counts and gives up."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.readers.cases.readers import reading, started, words
from sessrun.spec.proto.input_pb2 import ReaderBaseState

_TWO = b"one\ntwo\n"


def _counts(s: SessionAuthor, produced: int, units: int) -> None:
    s.run(["produced:0", "units:0"], values=[np.int64(produced), np.int64(units)])


def _value(s: SessionAuthor, value: bytes, prefix: str = "") -> None:
    s.run([f"{prefix}value:0"], values=[value])


@engine_case("READERS-015", title="The next run goes on after the last record.")
def runs_go_on(c: EngineAuthor) -> None:
    a, b = c.file("a", _TWO), c.file("b", b"three\n")
    with c.graph() as tf:
        reading(tf, lambda tf: tf.TextLineReader())
        tf.constant(5, name="other")
    s = c.open()
    s.run(["put"], {"names:0": words(a, b)}, values=[None])
    s.run(["close"], values=[None])
    _value(s, b"one")
    s.run(["other:0"], values=[np.int32(5)])
    _counts(s, 1, 0)
    _value(s, b"two")
    s.run(["values:0"], {"n:0": np.int64(4)}, values=[words("three")])


@engine_case("READERS-015", title="Records of one length go on, too.")
def records_go_on(c: EngineAuthor) -> None:
    a = c.file("a", b"aabbccdd")
    s = started(c, lambda tf: tf.FixedLengthRecordReader(2), a)
    _value(s, b"aa")
    s.run(["values:0"], {"n:0": np.int64(2)}, values=[words("bb", "cc")])
    _value(s, b"dd")


@engine_case("READERS-016", title="Two sessions read the same file, each for itself.")
def sessions_read_for_themselves(c: EngineAuthor) -> None:
    a = c.file("a", _TWO)
    first = started(c, lambda tf: tf.TextLineReader(), a)
    _value(first, b"one")
    second = c.open(session="second")
    second.run(["put"], {"names:0": words(a)}, values=[None])
    _value(second, b"one")
    _counts(second, 1, 0)
    _value(first, b"two")
    _value(second, b"two")


@engine_case("READERS-017", title="Two operations of one shared name are one reader.")
def shared_names(c: EngineAuthor) -> None:
    a = c.file("a", b"one\ntwo\nthree\n")
    with c.graph() as tf:
        for prefix, container in (("x_", ""), ("y_", ""), ("z_", "other")):
            names = tf.FIFOQueue(4, tf.string, shapes=[[]], shared_name="names")
            names.enqueue(tf.constant(a), name=f"{prefix}put")
            reader = tf.raw_ops.TextLineReaderV2(shared_name="lines", container=container)
            record = tf.raw_ops.ReaderReadV2(reader_handle=reader, queue_handle=names.queue_ref)
            tf.identity(record.value, name=f"{prefix}value")
    s = c.open()
    for prefix in ("x_", "y_", "z_"):
        s.run([f"{prefix}put"], values=[None])
    for prefix, value in (("x_", b"one"), ("y_", b"two"), ("z_", b"one"), ("x_", b"three")):
        _value(s, value, prefix)


@engine_case("READERS-017", title="Counts of a shared reader are those of all its operations.")
def shared_counts(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for prefix in ("x_", "y_"):
            names = tf.FIFOQueue(4, tf.string, shapes=[[]], shared_name="names")
            names.enqueue(tf.constant("name"), name=f"{prefix}put")
            reader = tf.raw_ops.IdentityReaderV2(shared_name="same")
            record = tf.raw_ops.ReaderReadV2(reader_handle=reader, queue_handle=names.queue_ref)
            tf.identity(record.key, name=f"{prefix}value")
            tf.raw_ops.ReaderNumRecordsProducedV2(reader_handle=reader, name=f"{prefix}produced")
    s = c.open()
    for count, prefix in enumerate(("x_", "y_", "y_"), 1):
        s.run([f"{prefix}put"], values=[None])
        _value(s, b"name", prefix)
        s.run(["x_produced:0"], values=[np.int64(count)])
        s.run(["y_produced:0"], values=[np.int64(count)])


@engine_case("READERS-018", title="A batch of records ends with its file.")
def batches_end_with_files(c: EngineAuthor) -> None:
    a, b = c.file("a", b"1\n2\n3\n"), c.file("b", b"4\n5\n")
    s = started(c, lambda tf: tf.TextLineReader(), a, b)
    for keys, values in (((1, 2), "12"), ((3,), "3")):
        s.run(
            ["keys:0", "values:0"],
            {"n:0": np.int64(2)},
            values=[words(*(f"{a}:{key}" for key in keys)), words(*values)],
        )
    s.run(
        ["keys:0", "values:0"],
        {"n:0": np.int64(10)},
        values=[words(f"{b}:1", f"{b}:2"), words("4", "5")],
    )


@engine_case("READERS-018", title="Whole files come one at a time, however many are asked for.")
def batches_of_whole_files(c: EngineAuthor) -> None:
    a, b = c.file("a", b"1"), c.file("b", b"2")
    s = started(c, lambda tf: tf.WholeFileReader(), a, b)
    s.run(["keys:0", "values:0"], {"n:0": np.int64(7)}, values=[words(a), words("1")])
    s.run(["keys:0", "values:0"], {"n:0": np.int64(7)}, values=[words(b), words("2")])


@engine_case("READERS-019", title="Records are counted, taken alone or together.")
def records_are_counted(c: EngineAuthor) -> None:
    a, b = c.file("a", b"1\n2\n3\n"), c.file("b", b"4\n")
    s = started(c, lambda tf: tf.TextLineReader(), a, b)
    s.run(["produced:0"], values=[np.int64(0)])
    _value(s, b"1")
    s.run(["produced:0"], values=[np.int64(1)])
    s.run(["values:0"], {"n:0": np.int64(5)}, values=[words("2", "3")])
    s.run(["produced:0"], values=[np.int64(3)])
    _value(s, b"4")
    s.run(["value:0"], error=[11])
    s.run(["produced:0"], values=[np.int64(4)])


@engine_case("READERS-020", title="A file counts once its end was seen.")
def files_are_counted(c: EngineAuthor) -> None:
    a, b, e = c.file("a", b"1\n2\n"), c.file("b", b"3\n"), c.file("e", b"")
    s = started(c, lambda tf: tf.TextLineReader(), a, e, b)
    for value, units in ((b"1", 0), (b"2", 0), (b"3", 2)):
        _value(s, value)
        s.run(["units:0"], values=[np.int64(units)])
    s.run(["value:0"], error=[11])
    s.run(["units:0"], values=[np.int64(3)])


@engine_case("READERS-020", title="A whole file counts as soon as it is given.")
def whole_files_are_counted(c: EngineAuthor) -> None:
    a, b = c.file("a", b"1"), c.file("b", b"2")
    s = started(c, lambda tf: tf.WholeFileReader(), a, b)
    for count, value in enumerate((b"1", b"2"), 1):
        _value(s, value)
        s.run(["units:0"], values=[np.int64(count)])


@engine_case("READERS-021", title="After a reset the next file is read, and counts begin at 0.")
def resets(c: EngineAuthor) -> None:
    a, b = c.file("a", b"1\n2\n3\n"), c.file("b", b"4\n5\n")
    s = started(c, lambda tf: tf.TextLineReader(), a, b)
    _value(s, b"1")
    s.run(["reset"], values=[None])
    _counts(s, 0, 0)
    s.run(["key:0", "value:0"], values=[f"{b}:1".encode(), b"4"])
    _counts(s, 1, 0)


@engine_case("READERS-021", title="A reader that lost a record can go on after a reset.")
def resets_after_damage(c: EngineAuthor) -> None:
    a = c.file("a", b"no record file at all")
    s = started(c, lambda tf: tf.TFRecordReader(), a)
    s.run(["value:0"], error=[15])
    s.run(["value:0"], error=[15])
    s.run(["reset"], values=[None])
    s.run(["value:0"], error=[11])


@engine_case("READERS-022", title="A restored reader has the counts of its state.")
def states_are_restored(c: EngineAuthor) -> None:
    s = started(c, lambda tf: tf.IdentityReader(), "a", "b", "c", "d")
    state = ReaderBaseState(
        work_started=7, work_finished=7, num_records_produced=5, current_work=b"x"
    )
    _value(s, b"a")
    s.run(["restore"], {"old:0": state.SerializeToString()}, values=[None])
    _counts(s, 5, 7)
    _value(s, b"b")
    _counts(s, 6, 8)
    s.run(["restore"], {"old:0": b""}, values=[None])
    _counts(s, 0, 0)
    _value(s, b"c")


@engine_case("READERS-037", title="A state is what a message of it says.")
def states_are_written(c: EngineAuthor) -> None:
    s = started(c, lambda tf: tf.IdentityReader(), "first", "second", "third")
    for count, name in enumerate((b"first", b"second"), 1):
        _value(s, name)
        state = ReaderBaseState(
            work_started=count, work_finished=count, num_records_produced=count, current_work=name
        )
        s.run(["state:0"], values=[state.SerializeToString()])
    s.run(["restore"], {"old:0": state.SerializeToString()}, values=[None])
    s.run(["state:0"], values=[state.SerializeToString()])


@engine_case("READERS-022", title="A state restored in the middle of a file has it read on.")
def states_of_whole_files(c: EngineAuthor) -> None:
    a, b = c.file("a", b"1"), c.file("b", b"2")
    s = started(c, lambda tf: tf.WholeFileReader(), a)
    s.run(["put"], {"names:0": words(b)}, error=[1])
    state = ReaderBaseState(work_started=3, work_finished=3, num_records_produced=2)
    s.run(["restore"], {"old:0": state.SerializeToString()}, values=[None])
    _value(s, b"1")
    _counts(s, 3, 4)


@engine_case("READERS-023", title="Readers that can be inside of a file write no state down.")
def no_states_within_files(c: EngineAuthor) -> None:
    a = c.file("a", b"1\n2\n")
    with c.graph() as tf:
        reading(tf, lambda tf: tf.TextLineReader(), "lines_")
        reading(tf, lambda tf: tf.FixedLengthRecordReader(1), "fixed_")
        reading(tf, lambda tf: tf.TFRecordReader(), "records_")
    s = c.open()
    for prefix in ("lines_", "fixed_", "records_"):
        s.run([f"{prefix}state:0"], error=[12])
        s.run([f"{prefix}restore"], {f"{prefix}old:0": b""}, error=[12])
    s.run(["lines_put"], {"lines_names:0": words(a)}, values=[None])
    _value(s, b"1", "lines_")
    s.run(["lines_state:0"], error=[12])
    _value(s, b"2", "lines_")


@engine_case("READERS-024", title="Bytes that are no state are refused.")
def no_states(c: EngineAuthor) -> None:
    s = started(c, lambda tf: tf.IdentityReader(), "a")
    for wrong in (
        b"\xff\xff\xff",
        b"\x08",
        ReaderBaseState(work_started=-1).SerializeToString(),
        ReaderBaseState(
            work_started=2, work_finished=1, num_records_produced=-4
        ).SerializeToString(),
        ReaderBaseState(work_started=2, work_finished=1).SerializeToString(),
    ):
        s.run(["restore"], {"old:0": wrong}, error=[3])


@engine_case("READERS-025", title="Names are single strings.")
def queues_of_something_else(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, dtypes, shapes, element in (
            ("numbers", [tf.int32], [[]], [3]),
            ("pairs", [tf.string, tf.string], [[], []], ["a", "b"]),
            ("vectors", [tf.string], [[2]], [["a", "b"]]),
        ):
            names = tf.FIFOQueue(4, dtypes, shapes=shapes)
            names.enqueue(element, name=f"put_{name}")
            tf.identity(tf.IdentityReader().read(names)[1], name=name)
    s = c.open()
    for name in ("numbers", "pairs", "vectors"):
        s.run([f"put_{name}"], values=[None])
        s.run([f"{name}:0"], error=[3])


@engine_case("READERS-026", title="Empty files are passed over.")
def empty_files(c: EngineAuthor) -> None:
    e, a = c.file("e", b""), c.file("a", b"1\n")
    s = started(c, lambda tf: tf.TextLineReader(), e, e, a, e)
    s.run(["key:0", "value:0"], values=[f"{a}:1".encode(), b"1"])
    s.run(["value:0"], error=[11])
    s.run(["units:0"], values=[np.int64(4)])


@engine_case("READERS-026", title="Empty record files, and too small ones, are passed over.")
def empty_record_files(c: EngineAuthor) -> None:
    e, a = c.file("e", b""), c.file("a", b"12345")
    with c.graph() as tf:
        reading(tf, lambda tf: tf.TFRecordReader(), "records_")
        reading(tf, lambda tf: tf.FixedLengthRecordReader(3, header_bytes=0), "fixed_")
    s = c.open()
    for prefix in ("records_", "fixed_"):
        s.run([f"{prefix}put"], {f"{prefix}names:0": words(e, e)}, values=[None])
    s.run(["fixed_put"], {"fixed_names:0": words(a)}, values=[None])
    _value(s, b"123", "fixed_")
    s.run(["records_close"], values=[None])
    s.run(["records_value:0"], error=[11])
    s.run(["records_units:0"], values=[np.int64(2)])


@engine_case("READERS-026", title="Several records at once: empty files are passed over.")
def empty_files_at_once(c: EngineAuthor) -> None:
    e, a = c.file("e", b""), c.file("a", b"1\n")
    s = started(c, lambda tf: tf.TextLineReader(), e, e, a)
    s.run(
        ["keys:0", "values:0"],
        {"n:0": np.int64(5)},
        values=[words(f"{a}:1"), words("1")],
    )


@engine_case("READERS-027", title="A read waits for a name.")
def a_read_waits(c: EngineAuthor) -> None:
    a = c.file("a", b"late\n")
    with c.graph() as tf:
        reading(tf, lambda tf: tf.TextLineReader())
    s = c.open()
    s.start("reader", ["key:0", "value:0"], grace_s=0.05)
    s.run(["put"], {"names:0": words(a)}, values=[None])
    c.join("reader", values=[f"{a}:1".encode(), b"late"])


@engine_case("READERS-027", title="A read that waits goes on to the next file.")
def a_read_waits_for_another_file(c: EngineAuthor) -> None:
    e, a = c.file("e", b""), c.file("a", b"late")
    s = started(c, lambda tf: tf.WholeFileReader(), close=False)
    s.start("reader", ["values:0"], {"n:0": np.int64(2)}, grace_s=0.05)
    s.run(["put"], {"names:0": words(e, a)}, values=[None])
    c.join("reader", values=[words(b"")])
    s.run(["values:0"], {"n:0": np.int64(2)}, values=[words("late")])


@engine_case("READERS-027", title="Lines that are read together wait for a name, too.")
def lines_at_once_wait(c: EngineAuthor) -> None:
    a = c.file("a", b"late\n")
    s = started(c, lambda tf: tf.TextLineReader(), close=False)
    s.start("reader", ["keys:0", "values:0"], {"n:0": np.int64(2)}, grace_s=0.05)
    s.run(["put"], {"names:0": words(a)}, values=[None])
    c.join("reader", values=[words(f"{a}:1"), words("late")])


@engine_case("READERS-028", title="A missing file is told once, then passed over.")
def missing_files_are_passed_over(c: EngineAuthor) -> None:
    a = c.file("a", b"1\n")
    s = started(c, lambda tf: tf.TextLineReader(), c.path("none"), a)
    s.run(["value:0"], error=[5])
    _counts(s, 0, 0)
    s.run(["key:0", "value:0"], values=[f"{a}:1".encode(), b"1"])
    s.run(["value:0"], error=[11])
    _counts(s, 1, 1)


@engine_case("READERS-036", title="Records one by one after several of them, over three files.")
def reads_of_both_kinds(c: EngineAuthor) -> None:
    a, b, d = c.file("a", b"1\n2\n3\n4\n"), c.file("b", b"5\n"), c.file("d", b"6\n7\n")
    s = started(c, lambda tf: tf.TextLineReader(), a, b, d)
    s.run(
        ["keys:0", "values:0"],
        {"n:0": np.int64(2)},
        values=[words(f"{a}:1", f"{a}:2"), words("1", "2")],
    )
    s.run(["key:0", "value:0"], values=[f"{a}:3".encode(), b"3"])
    s.run(["keys:0", "values:0"], {"n:0": np.int64(3)}, values=[words(f"{a}:4"), words("4")])
    s.run(["key:0", "value:0"], values=[f"{b}:1".encode(), b"5"])
    s.run(["keys:0", "values:0"], {"n:0": np.int64(1)}, values=[words(f"{d}:1"), words("6")])
    s.run(["reset"], values=[None])
    s.run(["key:0", "value:0"], error=[11])
    _counts(s, 0, 0)
