"""Lines and messages: every message survives the way there and back, no other line does harm."""

import io
import json
import random
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from sessrun.adapters.backend import Description
from sessrun.adapters.process import protocol
from sessrun.adapters.process.errors import ProtocolError
from sessrun.adapters.process.exchange import Exchange
from sessrun.adapters.process.payloads import INLINE_BYTES, LINE_BYTES, Packer
from sessrun.adapters.process.protocol import Hello, Observed, Request, Trouble
from sessrun.adapters.process.serve import serve
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Unsupported
from sessrun.spec.proto import GraphDef

FUZZED_LINES = 2000


@pytest.fixture
def exchange(tmp_path: Path) -> Exchange:
    return Exchange(tmp_path, "t-")


def there_and_back(request: Request, exchange: Exchange) -> Request:
    line = protocol.pack_request(request, Packer(exchange))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert len(line) <= LINE_BYTES + 1
    return protocol.unpack_request(protocol.read_line(line, "request"), exchange, GraphDef)


REQUESTS = [
    Request(1, "hello", {"protocol": [1], "exchange": "/tmp/x"}),  # noqa: S108 - not opened
    Request(2, "open", {"graph": {"node": [{"name": "a", "op": "NoOp"}]}, "config": {}}),
    Request(3, "extend", {"session": "s", "graph": {}}),
    Request(4, "run", {"session": "s", "fetches": ["a:0"], "feeds": {}, "options": {}}),
    Request(5, "setup", {"session": "s", "fetches": ["a"], "feeds": ["b:0"]}),
    Request(6, "partial", {"session": "s", "handle": "h", "fetches": [], "feeds": {}}),
    Request(7, "callable", {"session": "s", "fetches": [], "feeds": []}),
    Request(8, "call", {"session": "s", "handle": "h", "values": []}),
    Request(9, "devices", {"session": "s"}),
    Request(10, "reset", {"containers": ["c"]}),
    Request(11, "close", {"session": "s"}),
    Request(12, "case", {"case": {"id": "a/b"}}),
    Request(13, "shutdown", {}),
]

ANSWERS = [
    Hello(1, Description("n", "1", frozenset({"api"}), ("/device:CPU:0",), {"k": "v"})),
    Opened("session-1"),
    Fetched((None,)),
    Done({"devices": ["d"]}),
    Failure("run", 3, ("InvalidArgumentError", "Exception"), "node", "message"),
    Unsupported("api", "why"),
    Observed([{"step": "0", "outcome": "opened"}]),
    Trouble("case", "what"),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda r: r.do)
def test_every_request_comes_back_as_it_was(request_: Request, exchange: Exchange) -> None:
    assert there_and_back(request_, exchange) == request_


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda a: type(a).__name__)
def test_every_answer_comes_back_as_it_was(answer: Any, exchange: Exchange) -> None:
    line = protocol.pack_answer(7, answer, Packer(exchange))
    form = protocol.read_line(line, "answer")
    assert protocol.unpack_answer(form, "run", exchange) == answer
    assert form["id"] == 7


def strings(*items: bytes) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


TENSORS = {
    "scalar": np.float32(1.5),
    "empty": np.zeros((0, 3), np.int64),
    "nan": np.array([np.nan, -0.0, np.inf]),
    "bool": np.array([True, False]),
    "complex": np.array([1 + 2j], np.complex64),
    "not contiguous": np.arange(12, dtype=np.int16).reshape(3, 4).T,
    "bfloat16": np.array([1.5], ml_dtypes.bfloat16),
    "int4": np.array([-8, 7], ml_dtypes.int4),
    "strings": strings(b"", b"a\0\0", b"\xff"),
    "large": np.arange(1_000_000, dtype=np.float32),
    "large strings": strings(*[bytes([i % 256]) * i for i in range(700)]),
}


@pytest.mark.parametrize("name", TENSORS)
def test_every_tensor_comes_back_as_it_was(name: str, exchange: Exchange) -> None:
    want = np.asarray(TENSORS[name])
    got = there_and_back(
        Request(1, "call", {"session": "s", "handle": "h", "values": [want]}), exchange
    ).args["values"][0]
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)
    assert got.flags.writeable


def test_a_tensor_of_up_to_64_kib_stays_in_the_line(exchange: Exchange) -> None:
    for nbytes, inline in ((INLINE_BYTES, True), (INLINE_BYTES + 1, False)):
        form = Packer(exchange).tensor(np.zeros(nbytes, np.uint8))
        assert ("data" in form) is inline
        assert ("file" in form) is not inline


def test_a_handle_crosses_as_a_sign_that_it_exists(exchange: Exchange) -> None:
    handle = np.zeros(3, np.dtype([("resource", "u1", (1,))]))
    form = Packer(exchange).tensor(handle)
    assert form == {"dtype": "resource", "shape": [3], "opaque": True}
    request = Request(1, "call", {"session": "s", "handle": "h", "values": [handle]})
    assert there_and_back(request, exchange).args["values"][0].dtype == handle.dtype


def test_a_dtype_that_no_tensor_has_is_refused(exchange: Exchange) -> None:
    with pytest.raises(ProtocolError, match="datetime64"):
        Packer(exchange).tensor(np.array(["2026-01-01"], "datetime64[D]"))


def test_the_largest_tensors_leave_a_line_that_would_be_too_long(exchange: Exchange) -> None:
    sizes = [60_000] * 20 + [10]
    feeds = {f"x{i}:0": np.full(n, i, np.uint8) for i, n in enumerate(sizes)}
    request = Request(4, "run", {"session": "s", "fetches": [], "feeds": feeds, "options": {}})
    packer = Packer(exchange)
    form = json.loads(protocol.pack_request(request, packer))
    assert 1 <= len(packer.files) < len(sizes)
    assert "data" in form["feeds"]["x20:0"]
    back = there_and_back(request, exchange).args["feeds"]
    for name, want in feeds.items():
        np.testing.assert_array_equal(back[name], want)


def test_a_large_graph_goes_to_a_file_in_binary_form(exchange: Exchange) -> None:
    graph = {"node": [{"name": f"n{i}", "op": "NoOp"} for i in range(40_000)]}
    request = Request(2, "open", {"graph": graph, "config": {}})
    packer = Packer(exchange)
    form = json.loads(protocol.pack_request(request, packer))
    assert form["graph"].keys() == {"file", "nbytes"}
    assert packer.files == [form["graph"]["file"]]
    assert there_and_back(request, exchange) == request


def test_large_observations_go_to_a_file(exchange: Exchange) -> None:
    seen = [{"step": "0", "outcome": "value", "value": "v" * 2_000_000}]
    line = protocol.pack_answer(1, Observed(seen), Packer(exchange))
    assert len(line) < 1000
    form = protocol.read_line(line, "answer")
    assert protocol.unpack_answer(form, "case", exchange) == Observed(seen)


def test_a_message_that_fits_in_no_line_is_refused(exchange: Exchange) -> None:
    names = ["n" * 50_000] * 30
    args = {"session": "s", "fetches": names, "feeds": {}, "options": {}}
    with pytest.raises(ProtocolError, match="without tensors and graph"):
        protocol.pack_request(Request(1, "run", args), Packer(exchange))


@pytest.mark.parametrize("name", ["../x", "a/b", "/etc/passwd", "", ".", "..", ".x", "x\n", "a\0"])
def test_a_name_that_could_leave_the_folder_is_refused(name: str, exchange: Exchange) -> None:
    with pytest.raises(ProtocolError, match="no name of a file"):
        exchange.read({"file": name, "nbytes": 1})
    exchange.remove(name)


def test_removing_touches_only_the_folder(exchange: Exchange, tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside"
    outside.write_bytes(b"x")
    exchange.remove("../outside")
    assert outside.exists()


def corpus(exchange: Exchange) -> list[tuple[str, bytes]]:
    feeds = {"x:0": np.arange(3.0), "y:0": strings(b"ab", b"c")}
    run = Request(4, "run", {"session": "s", "fetches": ["a:0"], "feeds": feeds, "options": {}})
    asked = [protocol.pack_request(r, Packer(exchange)) for r in [*REQUESTS, run]]
    told = [Fetched((np.arange(6).reshape(2, 3), None, strings(b"z"))), *ANSWERS]
    answered = [protocol.pack_answer(9, a, Packer(exchange)) for a in told]
    large = protocol.pack_answer(9, Fetched((np.zeros(70_000, np.uint8),)), Packer(exchange))
    return [("request", a) for a in asked] + [("answer", a) for a in [*answered, large]]


def mutated(line: bytes, source: random.Random) -> bytes:
    data = bytearray(line.rstrip(b"\n"))
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(data) + 1)
        end = min(len(data), at + source.randint(0, 12))
        match source.randrange(6):
            case 0:
                data[at:end] = b""
            case 1:
                data[at:at] = source.randbytes(source.randint(1, 4))
            case 2:
                data[at:end] = data[:end]
            case 3:
                data[at:end] = source.choice(
                    [b"null", b"-1", b"1e400", b"[]", b"{}", b'""', b"true"]
                )
            case 4 if at < len(data):
                data[at] ^= 1 << source.randrange(8)
            case _:
                digits = [i for i, byte in enumerate(data) if 48 <= byte < 58]
                for place in source.sample(digits, min(3, len(digits))):
                    data[place] = source.choice(b"0123456789")
    return bytes(data)


def test_a_mutated_line_is_a_message_or_a_protocol_error(exchange: Exchange) -> None:
    source = random.Random(20261121)
    lines = corpus(exchange)
    refused = 0
    for _ in range(FUZZED_LINES):
        side, line = source.choice(lines)
        broken = mutated(line, source)
        try:
            form = protocol.read_line(broken, side)
            if side == "request":
                protocol.unpack_request(form, exchange, GraphDef)
            else:
                protocol.unpack_answer(form, "run", exchange)
        except ProtocolError:
            refused += 1
    assert refused > FUZZED_LINES // 2


def test_the_worker_answers_every_mutated_line_with_one_line(exchange: Exchange) -> None:
    source = random.Random(20261122)
    lines = [
        line for side, line in corpus(exchange) if side == "request" and b"shutdown" not in line
    ]
    hello = Request(1, "hello", {"protocol": [1], "exchange": str(exchange.folder)})
    sent = [protocol.pack_request(hello, Packer(exchange))]
    sent += [mutated(source.choice(lines), source).replace(b"\n", b" ") + b"\n" for _ in range(500)]
    answers = io.BytesIO()
    spec = "sessrun.adapters.fakes.always_unsupported:backend"
    assert serve(spec, io.BytesIO(b"".join(sent)), answers) == 0
    told = answers.getvalue().splitlines()
    assert len(told) == len(sent)
    kinds = {protocol.read_line(line, "answer")["outcome"] for line in told}
    assert kinds == {"hello", "unsupported", "error"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id":1,"do":"close","session":"s"}', "the first request must be hello"),
        (b'{"id":1,"do":"hello","protocol":[9],"exchange":"/x"}', "speaks versions"),
        (b'{"id":1,"do":"hello"}', "required property"),
        (b"hello?", "not JSON"),
    ],
)
def test_the_worker_needs_a_proper_hello(line: bytes, reason: str) -> None:
    answers = io.BytesIO()
    assert (
        serve("sessrun.adapters.fakes.conforming:backend", io.BytesIO(line + b"\n"), answers) == 1
    )
    form = protocol.read_line(answers.getvalue(), "answer")
    assert form["outcome"] == "error"
    assert reason in form["message"]
