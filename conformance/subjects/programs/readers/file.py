"""Programs of `tf.gfile` and `tf.io.gfile`: reading, writing, errors."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Program
from sessrun.spec.cases.namespace import Namespace

__all__ = ["BEHAVIOURS"]

TEXT = "first\nsecond \u00e4\n\nlast"


def _in_a_folder(program: Callable[[Namespace, Callable[..., str]], object]) -> Program:
    """A program that gets a function from names to paths in a folder of its own."""

    def placed(tf):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "text").write_text(TEXT, encoding="utf-8")
            (Path(folder) / "empty").touch()
            (Path(folder) / "sub" / "deep").mkdir(parents=True)
            (Path(folder) / "sub" / "one.txt").write_bytes(b"\xff\x00\n1")
            return program(tf, lambda *names: os.path.join(folder, *names))  # noqa: PTH118

    placed.__name__ = program.__name__
    return placed


@_in_a_folder
def _reading(tf, at):
    def opened(*steps, mode: str = "r", name: str = "text"):
        file = tf.gfile.GFile(at(name), mode)
        return attempt(*(lambda step=step: step(file) for step in steps))

    return [
        opened(
            lambda f: f.read(),
            lambda f: f.read(),
            lambda f: f.tell(),
            lambda f: f.seek(2),
            lambda f: f.read(3),
            lambda f: f.tell(),
            lambda f: f.readline(),
            lambda f: f.readlines(),
            lambda f: f.readline(),
            lambda f: f.readlines(),
            lambda f: f.size(),
            lambda f: os.path.basename(f.name),  # noqa: PTH119 - as programs of then have it
            lambda f: f.mode,
        ),
        opened(lambda f: list(f), lambda f: next(f)),
        opened(lambda f: next(f), lambda f: f.readline(), lambda f: list(f)),
        opened(
            lambda f: f.seek(offset=3),
            lambda f: f.read(2),
            lambda f: f.seek(position=1),
            lambda f: f.read(2),
            lambda f: f.seek(2, 1),
            lambda f: f.read(2),
            lambda f: f.seek(-4, 2),
            lambda f: f.read(),
            lambda f: f.seek(1, 0),
            lambda f: f.read(1),
            lambda f: f.seek(1, 3),
            lambda f: f.seek(),
            lambda f: f.seek(100),
            lambda f: f.tell(),
            lambda f: f.read(),
            lambda f: f.tell(),
            lambda f: f.seek(-1),
            lambda f: f.tell(),
            lambda f: f.seek(offset=1, position=2),
            lambda f: f.tell(),
            lambda f: f.seek("1"),
            lambda f: f.seek(1.5),
        ),
        opened(
            lambda f: f.read(5),
            lambda f: f.readline(),
            lambda f: f.readlines(),
            lambda f: f.read(-1),
            lambda f: f.mode,
            mode="rb",
        ),
        opened(lambda f: list(f), mode="rb"),
        opened(
            lambda f: f.write("x"),
            lambda f: f.flush(),
            lambda f: f.read(3),
            lambda f: f.close(),
            lambda f: f.read(3),
            lambda f: f.tell(),
            lambda f: f.close(),
            lambda f: f.readline(),
        ),
        opened(
            lambda f: f.close(),
            lambda f: f.tell(),
            lambda f: f.read(0),
            lambda f: f.tell(),
            lambda f: f.seekable(),
        ),
        opened(
            lambda f: f.read(),
            lambda f: f.readline(),
            lambda f: f.readlines(),
            lambda f: f.size(),
            lambda f: f.seek(0),
            name="empty",
        ),
        opened(lambda f: f.read(), mode="r", name="sub/one.txt"),
        opened(lambda f: f.readline(), lambda f: f.read(), mode="rb", name="sub/one.txt"),
        opened(lambda f: f.read(), lambda f: f.size(), lambda f: f.tell(), name="none"),
        opened(lambda f: f.read(), lambda f: f.size(), name="sub"),
        opened(lambda f: f.read("3"), lambda f: f.read(2.5), lambda f: f.read(None)),
    ]


@_in_a_folder
def _writing(tf, at):
    def opened(mode: str, *steps, name: str = "text"):
        with tf.gfile.GFile(at(name), mode) as file:
            outcomes = attempt(*(lambda step=step: step(file) for step in steps))
        return outcomes, attempt(lambda: Path(at(name)).read_bytes())

    write = (lambda f: f.write("abc\n"), lambda f: f.write(b"d\xc3\xa4"))
    return [
        opened(
            "w",
            *write,
            lambda f: f.tell(),
            lambda f: f.size(),
            lambda f: f.flush(),
            lambda f: f.size(),
            lambda f: f.write(3),
            lambda f: f.write(None),
        ),
        opened("a", *write, lambda f: f.tell(), lambda f: f.read()),
        opened("wb", *write, lambda f: f.seek(1), lambda f: f.tell(), lambda f: f.read()),
        opened("ab", *write),
        opened("w+", *write, lambda f: f.seek(0), lambda f: f.read()),
        opened(
            "r+",
            lambda f: f.read(2),
            *write,
            lambda f: f.tell(),
            lambda f: f.seek(0),
            lambda f: f.read(),
        ),
        opened("a+", lambda f: f.read(), *write, lambda f: f.read()),
        opened("w", name="new"),
        opened("a", *write, name="newer"),
        attempt(
            lambda: opened("w", *write, name="none/new"),
            lambda: opened("x"),
            lambda: opened("rw"),
            lambda: opened(""),
            lambda: opened("w", *write, name="sub"),
            lambda: opened("rt"),
            lambda: opened("wt"),
            lambda: opened("U"),
            lambda: tf.gfile.GFile(at("text"), None),
            lambda: tf.gfile.GFile(3).read(),
            lambda: tf.gfile.GFile(None).read(),
            lambda: tf.gfile.GFile().read(),
        ),
    ], attempt(
        lambda: tf.gfile.Open(at("text")).read(),
        lambda: tf.gfile.FastGFile(at("text")).read(2),
        lambda: tf.gfile.FastGFile(at("text"), "rb").read(2),
        lambda: tf.gfile.GFile(Path(at("text")), "rb").read(2),
        lambda: tf.gfile.GFile(at("text").encode(), "rb").read(2),
        lambda: tf.gfile.GFile("file://" + at("text"), "rb").read(2),
        lambda: tf.io.gfile.GFile(at("text"), "rb").read(2),
        lambda: tf.gfile.Open is tf.gfile.GFile,
        lambda: tf.io.gfile.GFile is tf.gfile.GFile,
        lambda: tf.gfile.GFile("nope://there/x").read(),
        lambda: tf.gfile.GFile("").read(),
        lambda: tf.gfile.GFile(at("text") + "/under").read(),
    )


def _listed(at):
    root = Path(at())
    return sorted((str(path.relative_to(root)), path.is_dir()) for path in root.rglob("*"))


@_in_a_folder
def _asking(tf, at):
    gfile, v2 = tf.gfile, tf.io.gfile

    def stat(path):
        facts = gfile.Stat(path)
        return facts.length if not facts.is_directory else None, facts.is_directory

    places = (
        at("text"),
        at("sub"),
        at("sub") + "/",
        at("none"),
        at("text", "x"),
        "",
        at("text").encode(),
        Path(at("sub")),
        "file://" + at("text"),
        "file://" + at("sub"),
        "nope://x/y",
        3,
        None,
    )
    functions = (
        gfile.Exists,
        v2.exists,
        gfile.IsDirectory,
        v2.isdir,
        lambda path: sorted(gfile.ListDirectory(path)),
        lambda path: sorted(v2.listdir(path)),
        stat,
        lambda path: v2.stat(path).is_directory,
    )
    return (
        [attempt(*(lambda path=path, ask=ask: ask(path) for path in places)) for ask in functions],
        attempt(
            lambda: gfile.Stat(at("text")).mtime_nsec == os.stat(at("text")).st_mtime_ns,  # noqa: PTH116
            lambda: type(gfile.Stat(at("text"))).__name__,
            lambda: v2.get_registered_schemes()[:0],
            lambda: {"", "file"} <= set(v2.get_registered_schemes()),
        ),
    )


@_in_a_folder
def _globbing(tf, at):
    for name in (".hidden", "sub/two.txt", "sub/.txt", "a[1]", "a1", "sub/deep/three.txt"):
        Path(at(name)).touch()

    def cut(paths):
        return sorted(path.replace(at(), "") for path in paths)

    patterns = (
        "*",
        "*.txt",
        "sub/*.txt",
        "*/*.txt",
        "**/*.txt",
        "**",
        "t?xt",
        "[st]*",
        "[!s]*",
        "a[1]",
        "a\\[1\\]",
        "none*",
        "none",
        "text",
        "sub",
        "sub/",
        "sub/*",
        "*/",
        "",
        "[^s]*",
        ".*",
        "*/deep/*",
        "{text,empty}",
        "s*/d*/t*",
    )
    return attempt(
        *(lambda pattern=pattern: cut(tf.gfile.Glob(at(pattern))) for pattern in patterns),
        lambda: cut(tf.gfile.Glob([at("t*"), at("sub/*.txt"), at("te*")])),
        lambda: cut(tf.io.gfile.glob(at("t*"))),
        lambda: tf.gfile.Glob([]),
        lambda: cut(tf.io.gfile.glob([at("t*"), at("none*")])),
        lambda: tf.gfile.Glob(3),
        lambda: tf.gfile.Glob("nope://x/*"),
        lambda: cut(tf.gfile.Glob("file://" + at("t*"))),
        lambda: cut(tf.io.gfile.glob(Path(at("t*")))),
        lambda: cut(tf.gfile.Glob(at("none/*"))),
    )


@_in_a_folder
def _walking(tf, at):
    def cut(steps):
        return [(top.replace(at(), ""), sorted(dirs), sorted(files)) for top, dirs, files in steps]

    return attempt(
        lambda: cut(tf.gfile.Walk(at())),
        lambda: cut(tf.gfile.Walk(at(), in_order=False)),
        lambda: cut(tf.gfile.Walk(at("none"))),
        lambda: cut(tf.gfile.Walk(at("text"))),
        lambda: cut(tf.io.gfile.walk(at())),
        lambda: cut(tf.io.gfile.walk(at(), topdown=False)),
        lambda: cut(tf.gfile.Walk(at("sub") + "/")),
        lambda: cut(tf.gfile.Walk(Path(at("sub")))),
        lambda: cut(tf.gfile.Walk(at("sub").encode())),
        lambda: cut(tf.io.gfile.walk(at("none"), onerror=lambda _: 1 / 0)),
        lambda: cut(tf.gfile.Walk(3)),
        lambda: cut(tf.gfile.Walk("")),
        lambda: cut(tf.gfile.Walk("file://" + at("sub")))[0][1:],
    )


@_in_a_folder
def _changing(tf, at):
    gfile, v2 = tf.gfile, tf.io.gfile
    steps = (
        lambda: gfile.MkDir(at("new")),
        lambda: gfile.MkDir(at("new")),
        lambda: gfile.MkDir(at("a/b")),
        lambda: gfile.MakeDirs(at("a/b")),
        lambda: gfile.MakeDirs(at("a/b")),
        lambda: gfile.MakeDirs(at("text")),
        lambda: gfile.MakeDirs(at("text/x")),
        lambda: gfile.MkDir(at("text")),
        lambda: gfile.MkDir(""),
        lambda: gfile.MakeDirs(""),
        lambda: gfile.Copy(at("text"), at("copy")),
        lambda: gfile.Copy(at("text"), at("copy")),
        lambda: gfile.Copy(at("empty"), at("copy"), overwrite=True),
        lambda: gfile.Copy(at("none"), at("copy2")),
        lambda: gfile.Copy(at("none"), at("copy"), True),
        lambda: gfile.Copy(at("text"), at("nowhere/x")),
        lambda: gfile.Copy(at("text"), at("sub")),
        lambda: gfile.Copy(at("text"), at("sub"), True),
        lambda: gfile.Copy(at("sub"), at("sub2")),
        lambda: gfile.Rename(at("copy"), at("moved")),
        lambda: gfile.Rename(at("moved"), at("text")),
        lambda: gfile.Rename(at("text"), at("moved"), overwrite=True),
        lambda: gfile.Rename(at("none"), at("x")),
        lambda: gfile.Rename(at("sub"), at("sub3")),
        lambda: gfile.Rename(at("none"), at("moved")),
        lambda: gfile.Rename(at("moved"), at("no/x")),
        lambda: gfile.Rename(at("moved"), at("sub3"), True),
        lambda: gfile.Rename(at("sub3"), at("moved"), True),
        lambda: gfile.Rename(at("sub3"), at("new"), True),
        lambda: gfile.Remove(at("empty")),
        lambda: gfile.Remove(at("empty")),
        lambda: gfile.Remove(at("new")),
        lambda: gfile.Remove("nope://x"),
        lambda: gfile.Remove(3),
        lambda: gfile.DeleteRecursively(at("new")),
        lambda: gfile.DeleteRecursively(at("new")),
        lambda: gfile.DeleteRecursively(at("moved")),
        lambda: gfile.DeleteRecursively(at("a/b")),
        lambda: v2.mkdir(at("n")),
        lambda: v2.mkdir(at("n")),
        lambda: v2.makedirs(at("n/m/o")),
        lambda: v2.copy(os.__file__, at("n/m/f")),
        lambda: v2.rename(at("n/m/f"), at("n/g")),
        lambda: v2.copy(os.__file__, at("n/g")),
        lambda: v2.rename(at("n/g"), at("n/g")),
        lambda: v2.remove(at("n/g")),
        lambda: v2.rmtree(at("n")),
        lambda: v2.rmtree(at("n")),
        lambda: gfile.Copy("nope://x", at("y")),
        lambda: gfile.Rename(at("a"), "nope://x"),
        lambda: gfile.MkDir("nope://x"),
        lambda: gfile.MakeDirs("file://" + at("u/v")),
        lambda: gfile.DeleteRecursively("nope://x"),
        lambda: gfile.Copy(at("a"), at("a"), True),
        lambda: gfile.Rename("file://" + at("u"), at("w")),
        lambda: gfile.Copy(3, at("x")),
    )
    return [(*attempt(step), _listed(at)) for step in steps]


def _joining(tf):
    join = tf.io.gfile.join
    return attempt(
        lambda: join("a", "b"),
        lambda: join("a"),
        lambda: join("a/", "b"),
        lambda: join("a", "/b"),
        lambda: join("a", "b", "c"),
        lambda: join("", "b"),
        lambda: join("a", ""),
        lambda: join(),
        lambda: join("gs://a", "b"),
        lambda: join("gs://a", "/b"),
        lambda: join(b"a", b"b"),
        lambda: join("file:///a", "b"),
        lambda: join("a", b"b"),
        lambda: join(Path("a"), "b"),
        lambda: join("a//", "//b"),
        lambda: join(3, "b"),
        lambda: join("mem://x", "y", "/z"),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_reading, _writing, _asking, _globbing, _walking, _changing, _joining)
}
