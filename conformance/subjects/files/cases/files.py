"""Vectors of FILES, and of ERRORS where files are missing or in the way."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    SessionAuthor,
    api_case,
    engine_case,
)
from sessrun.spec.cases.namespace import Namespace

#: Bytes that a reader of text would change, or end at.
_ODD = b"a\0b\r\nc\rd\n\xff\xfe\x80\n\n"


def _graph(tf: Namespace) -> None:
    """`read` reads the file `name`, `write` writes `data` into it, `match` finds `pattern`."""
    name = tf.placeholder(tf.string, None, name="name")
    data = tf.placeholder(tf.string, None, name="data")
    tf.read_file(name, name="read")
    tf.write_file(name, data, name="write")
    tf.matching_files(tf.placeholder(tf.string, None, name="pattern"), name="match")


def _started(c: EngineAuthor) -> SessionAuthor:
    with c.graph() as tf:
        _graph(tf)
    return c.open()


def _names(*names: str) -> np.ndarray:
    return np.array([name.encode() for name in names], object)


@engine_case("FILES-001", title="Bytes that no text has are read as they are.")
def odd_bytes_are_read(c: EngineAuthor) -> None:
    odd, every = c.file("odd", _ODD), c.file("every", bytes(range(256)) * 3)
    s = _started(c)
    s.run(["read:0"], {"name:0": odd}, values=[_ODD])
    s.run(["read:0"], {"name:0": every}, values=[bytes(range(256)) * 3])


@engine_case("FILES-001", title="A file of no bytes is the empty string.")
def an_empty_file_is_read(c: EngineAuthor) -> None:
    empty, nul = c.file("empty", b""), c.file("sub/nul", b"\0")
    s = _started(c)
    s.run(["read:0"], {"name:0": empty}, values=[b""])
    s.run(["read:0"], {"name:0": nul}, values=[b"\0"])


@engine_case("FILES-001", title="A constant path is read, of a file larger than any buffer.")
def a_constant_path_is_read(c: EngineAuthor) -> None:
    data = bytes(7 * i % 251 for i in range(300)) * 8
    path = c.file("large", data)
    with c.graph() as tf:
        tf.read_file(tf.constant(path), name="read")
    c.open().run(["read:0"], values=[data])


@engine_case("FILES-002", title="A file that changed between two runs is read anew.")
def a_file_is_read_anew(c: EngineAuthor) -> None:
    path = c.file("a", b"one")
    s = _started(c)
    s.run(["read:0"], {"name:0": path}, values=[b"one"])
    c.change("a", append=b" two")
    s.run(["read:0"], {"name:0": path}, values=[b"one two"])
    c.change("a", truncate=1)
    s.run(["read:0"], {"name:0": path}, values=[b"o"])
    c.change("a", write=b"x")
    s.run(["read:0"], {"name:0": path}, values=[b"x"])


@engine_case("FILES-002", title="A removed file is missed, and found once it is there again.")
def a_removed_file_is_missed(c: EngineAuthor) -> None:
    path = c.file("a", b"one")
    s = _started(c)
    s.run(["read:0"], {"name:0": path}, values=[b"one"])
    c.change("a", remove=True)
    s.run(["read:0"], {"name:0": path}, error=[5])
    c.change("a", write=b"two")
    s.run(["read:0"], {"name:0": path}, values=[b"two"])


@engine_case("FILES-003", title="A folder cannot be read.")
def a_folder_cannot_be_read(c: EngineAuthor) -> None:
    folder, full = c.file("folder", None), c.path()
    s = _started(c)
    s.run(["read:0"], {"name:0": folder}, error=[9])
    s.run(["read:0"], {"name:0": full}, error=[9])


@engine_case("FILES-004", title="What is written is there, byte for byte, and nothing of before.")
def what_is_written_is_there(c: EngineAuthor) -> None:
    path = c.file("a", b"something long that was there before")
    s = _started(c)
    s.run(["write"], {"name:0": path, "data:0": _ODD}, values=[None])
    c.content("a", _ODD)
    s.run(["write"], {"name:0": path, "data:0": b"b"}, values=[None])
    c.content("a", b"b")
    s.run(["write"], {"name:0": path, "data:0": b""}, values=[None])
    c.content("a", b"")


@engine_case("FILES-004", title="What one run writes the next one reads.")
def what_is_written_can_be_read(c: EngineAuthor) -> None:
    path = c.path("new")
    s = _started(c)
    for data in (b"first, the longer", b"second"):
        s.run(["write"], {"name:0": path, "data:0": data}, values=[None])
        s.run(["read:0"], {"name:0": path}, values=[data])
    c.names(["new"])


@engine_case("FILES-005", title="Folders on the way to a file are made.")
def folders_are_made(c: EngineAuthor) -> None:
    near, far = c.path("one/a"), c.path("x/y/z/b")
    s = _started(c)
    s.run(["write"], {"name:0": near, "data:0": b"1"}, values=[None])
    s.run(["write"], {"name:0": far, "data:0": b"2"}, values=[None])
    c.names(["one/a", "x/y/z/b"])
    c.content("x/y/z/b", b"2")


@engine_case("FILES-006", title="A folder is not written over.")
def a_folder_is_not_written_over(c: EngineAuthor) -> None:
    folder, _ = c.file("folder", None), c.file("folder/inside", b"kept")
    s = _started(c)
    s.run(["write"], {"name:0": folder, "data:0": b"1"}, error=[9])
    c.names(["folder/inside"])
    c.content("folder/inside", b"kept")


@engine_case("FILES-007", title="There is nothing below a plain file.")
def nothing_is_below_a_file(c: EngineAuthor) -> None:
    c.file("plain", b"kept")
    s = _started(c)
    s.run(["read:0"], {"name:0": c.path("plain/below")}, error=[9])
    s.run(["write"], {"name:0": c.path("plain/below"), "data:0": b"1"}, error=[9])
    c.content("plain", b"kept")


@engine_case("FILES-008", title="A vector of one name is no file's name.")
def a_name_is_a_scalar(c: EngineAuthor) -> None:
    path = c.file("a", b"kept")
    s = _started(c)
    s.run(["read:0"], {"name:0": _names(path)}, error=[3])
    s.run(["write"], {"name:0": _names(path), "data:0": b"1"}, error=[3])
    s.run(["write"], {"name:0": path, "data:0": np.array([b"1"], object)}, error=[3])
    c.content("a", b"kept")


@engine_case("FILES-009", title="Names come in the order of their bytes.")
def names_are_in_order(c: EngineAuthor) -> None:
    for name in ("b", "a", "B", "a10", "a9", "_"):
        c.file(name, b"")
    s = _started(c)
    s.run(
        ["match:0"],
        {"pattern:0": c.path("*")},
        values=[_names(*map(c.path, ["B", "_", "a", "a10", "a9", "b"]))],
    )


@engine_case("FILES-009", title="What several patterns find is in one order.")
def several_patterns_are_in_one_order(c: EngineAuthor) -> None:
    for name in ("b.txt", "a.txt", "c.bin"):
        c.file(name, b"")
    s = _started(c)
    s.run(
        ["match:0"],
        {"pattern:0": _names(c.path("c*"), c.path("*.txt"), c.path("none"))},
        values=[_names(*map(c.path, ["a.txt", "b.txt", "c.bin"]))],
    )


@engine_case("FILES-009", title="A name that two patterns match comes twice.")
def a_name_of_two_patterns(c: EngineAuthor) -> None:
    for name in ("b.txt", "a.txt", "a.bin"):
        c.file(name, b"")
    s = _started(c)
    s.run(
        ["match:0"],
        {"pattern:0": _names(c.path("*.txt"), c.path("a*"))},
        values=[_names(*map(c.path, ["a.bin", "a.txt", "a.txt", "b.txt"]))],
    )


@engine_case("FILES-010", title="Where nothing matches, there are no names.")
def no_match_is_no_name(c: EngineAuthor) -> None:
    c.file("a", b"")
    s = _started(c)
    none = np.zeros(0, object)
    s.run(["match:0"], {"pattern:0": c.path("b*")}, values=[none])
    s.run(["match:0"], {"pattern:0": c.path("no/such/*")}, values=[none])
    s.run(["match:0"], {"pattern:0": _names(c.path("b"), c.path("c"))}, values=[none])


@engine_case("FILES-011", title="A star stays in its folder.")
def a_star_stays_in_its_folder(c: EngineAuthor) -> None:
    for name in ("a.txt", "sub/b.txt", "sub/deep/c.txt"):
        c.file(name, b"")
    s = _started(c)
    s.run(["match:0"], {"pattern:0": c.path("*.txt")}, values=[_names(c.path("a.txt"))])
    s.run(["match:0"], {"pattern:0": c.path("*/*.txt")}, values=[_names(c.path("sub/b.txt"))])
    s.run(["match:0"], {"pattern:0": c.path("sub?b.txt")}, values=[np.zeros(0, object)])


@engine_case("FILES-012", title="A file of mode 0 is not read.", needs=("file-modes",))
def a_forbidden_file(c: EngineAuthor) -> None:
    path = c.file("secret", b"x\n")
    with c.graph() as tf:
        tf.read_file(tf.constant(path), name="read")
        names = tf.FIFOQueue(4, tf.string, shapes=[[]])
        names.enqueue(path, name="put")
        tf.identity(tf.WholeFileReader().read(names)[1], name="whole")
    s = c.open()
    c.change("secret", mode=0)
    s.run(["read:0"], error=[7])
    s.run(["put"], values=[None])
    s.run(["whole:0"], error=[7])
    c.change("secret", mode=0o600)
    s.run(["read:0"], values=[b"x\n"])


# --- clauses of ERRORS --------------------------------------------------------------------


@engine_case("ERRORS-031", title="ReadFile of a file that is not there fails with code 5.")
def a_missing_file(c: EngineAuthor) -> None:
    s = _started(c)
    s.run(["read:0"], {"name:0": c.path("none")}, error=[5])
    s.run(["read:0"], {"name:0": c.path("no/such")}, error=[5])
    s.run(["write"], {"name:0": c.path("none"), "data:0": b"now"}, values=[None])
    s.run(["read:0"], {"name:0": c.path("none")}, values=[b"now"])


@engine_case("ERRORS-031", title="Readers of every kind miss a file with code 5.")
def readers_miss_a_file(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, reader in (
            ("whole", tf.WholeFileReader()),
            ("lines", tf.TextLineReader()),
            ("fixed", tf.FixedLengthRecordReader(1)),
            ("records", tf.TFRecordReader()),
        ):
            names = tf.FIFOQueue(4, tf.string, shapes=[[]])
            names.enqueue(tf.constant(c.path("none")), name=f"put_{name}")
            tf.identity(reader.read(names)[1], name=name)
    s = c.open()
    for name in ("whole", "lines", "fixed", "records"):
        s.run([f"put_{name}"], values=[None])
        s.run([f"{name}:0"], error=[5])


@api_case("ERRORS-031", title="Reading a file that is not there is NotFoundError.")
def a_missing_file_is_not_found(c: ApiAuthor) -> None:
    tf = c.tf
    sess = tf.Session()
    c.raises("NotFoundError", lambda: sess.run(tf.read_file(c.path("none"))))
    c.raises("NotFoundError", lambda: tf.gfile.GFile(c.path("none"), "rb").read())


@api_case("ERRORS-032", title="A copy over a file is AlreadyExistsError, unless it may be.")
def a_copy_over_a_file(c: ApiAuthor) -> None:
    tf = c.tf
    one, two = c.file("one", b"1"), c.file("two", b"2")
    c.raises("AlreadyExistsError", lambda: tf.gfile.Copy(one, two))
    c.content("two", b"2")
    tf.gfile.Copy(one, two, overwrite=True)
    c.content("two", b"1")
    tf.gfile.Copy(one, c.path("three"))
    c.names(["one", "three", "two"])


@api_case("ERRORS-032", title="The same of tf.io.gfile, by its own name.")
def a_copy_of_io_gfile(c: ApiAuthor) -> None:
    tf = c.tf
    one, two = c.file("one", b"1"), c.file("two", b"2")
    c.raises("AlreadyExistsError", lambda: tf.io.gfile.copy(one, two))
    c.content("two", b"2")


@api_case("ERRORS-033", title="What a py_func raises has the code of its class.")
def what_a_script_raises(c: ApiAuthor) -> None:
    for raised, classes in (
        ("ValueError", "InvalidArgumentError"),
        ("TypeError", "InvalidArgumentError"),
        ("StopIteration", "OutOfRangeError"),
        ("MemoryError", "ResourceExhaustedError"),
        ("NotImplementedError", "UnimplementedError"),
        ("RuntimeError", "UnknownError"),
        ("KeyError", "UnknownError"),
        ("OSError", "UnknownError"),
    ):
        c.named_check("errors.of_a_script", classes, raised=raised)


@api_case("ERRORS-033", title="What a py_func raises has the code of the class it derives from.")
def what_a_script_raises_of_a_subclass(c: ApiAuthor) -> None:
    for raised, classes in (
        ("UnicodeError", "InvalidArgumentError"),
        ("subclass of ValueError", "InvalidArgumentError"),
        ("subclass of TypeError", "InvalidArgumentError"),
        ("subclass of StopIteration", "OutOfRangeError"),
        ("subclass of MemoryError", "ResourceExhaustedError"),
        ("subclass of NotImplementedError", "UnimplementedError"),
        ("subclass of RuntimeError", "UnknownError"),
    ):
        c.named_check("errors.of_a_script", classes, raised=raised)
