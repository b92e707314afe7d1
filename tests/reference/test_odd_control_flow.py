"""Control flow and functions as no builder makes them: refused with a clear error, never a hang."""

import threading
import time
from typing import Any

import pytest
from google.protobuf import text_format

import sessrun.reference as tf

T = "attr{key:'T' value{type:DT_FLOAT}}"
CONST = (
    "node{name:'c' op:'Const' attr{key:'dtype' value{type:DT_FLOAT}} attr{key:'value' "
    "value{tensor{dtype:DT_FLOAT tensor_shape{} float_val:1}}}}"
)
ARGS = "input_arg{name:'x' type:DT_FLOAT} output_arg{name:'y' type:DT_FLOAT}"


def enter(name: str, frame: str) -> str:
    attrs = f"{T} attr{{key:'frame_name' value{{s:'{frame}'}}}}"
    return f"node{{name:'{name}' op:'Enter' input:'c' {attrs}}}"


def merge(name: str, *inputs: str) -> str:
    listed = " ".join(f"input:'{text}'" for text in inputs)
    return f"node{{name:'{name}' op:'Merge' {listed} {T} attr{{key:'N' value{{i:2}}}}}}"


def one(name: str, op: str, *inputs: str) -> str:
    listed = " ".join(f"input:'{text}'" for text in inputs)
    return f"node{{name:'{name}' op:'{op}' {listed} {T}}}"


def function(nodes: str, ret: str, signature: str = ARGS) -> str:
    body = f"signature{{name:'F' {signature}}} {nodes} {ret}"
    return f"node{{name:'k' op:'F' input:'c'}} library{{function{{{body}}}}}"


RET = "ret{key:'y' value:'n:y:0'}"
ODD = {
    "an exit of no frame": (one("e", "Exit", "c"), "e:0", "leaves a frame"),
    "two frames": (
        enter("e", "f") + enter("g", "h") + one("a", "AddV2", "e", "g"),
        "a:0",
        "inputs from different frames",
    ),
    "a loop without a beginning": (
        merge("m", "n", "n") + one("n", "NextIteration", "m"),
        "m:0",
        "nothing but the ends of loops",
    ),
    "a cycle without an end": (merge("m", "c", "i") + one("i", "Identity", "m"), "m:0", "cycle"),
    "a function that calls itself": (
        function("node_def{name:'n' op:'F' input:'x'}", RET),
        "k:0",
        "calls itself: F in F",
    ),
    "a function that returns nothing": (function("", ""), "k:0", "does not say what it returns"),
    "a result of no node": (function("", RET), "k:0", "no node 'n'"),
    "an unknown operation": (
        function("node_def{name:'n' op:'Nope' input:'x'}", RET),
        "k:0",
        "not registered 'Nope'",
    ),
    "another dtype than it says": (
        function(
            "node_def{name:'n' op:'Cast' input:'x' attr{key:'SrcT' value{type:DT_FLOAT}} "
            "attr{key:'DstT' value{type:DT_INT32}}}",
            RET,
        ),
        "k:0",
        "which has",
    ),
    "an argument without a dtype": (
        function("", "ret{key:'y' value:'x'}", ARGS.replace(" type:DT_FLOAT", "", 1)),
        "k:0",
        "has no dtype",
    ),
}


def imported(text: str) -> Any:
    graph_def = tf.GraphDef()
    text_format.Parse(CONST + text, graph_def)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    return graph


@pytest.mark.parametrize("what", ODD)
def test_an_odd_graph_is_refused(what: str) -> None:
    text, fetch, words = ODD[what]
    with pytest.raises((ValueError, tf.errors.OpError), match=words):
        tf.Session(graph=imported(text)).run(fetch)


def test_a_value_inside_of_a_frame_is_fetched_if_there_is_one() -> None:
    assert tf.Session(graph=imported(enter("e", "f"))).run("e:0") == 1.0


ENDLESS = enter("e", "f") + merge("m", "e", "n") + one("n", "NextIteration", "m")


def test_an_endless_loop_ends_at_its_deadline() -> None:
    with (
        tf.Session(graph=imported(ENDLESS)) as session,
        pytest.raises(tf.errors.DeadlineExceededError, match="n"),
    ):
        session.run("n", options=tf.RunOptions(timeout_in_ms=200))


def test_an_endless_loop_ends_with_its_session() -> None:
    session = tf.Session(graph=imported(ENDLESS))
    ended: list[BaseException] = []

    def run() -> None:
        try:
            session.run("n")
        except BaseException as error:  # noqa: BLE001 - looked at below
            ended.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    time.sleep(0.1)
    session.close()
    thread.join(20)
    assert not thread.is_alive()
    assert isinstance(ended[0], tf.errors.CancelledError | RuntimeError)


def test_a_function_of_any_dtype_is_not_taken_in() -> None:
    args = "input_arg{name:'x' type_attr:'T'} output_arg{name:'y' type_attr:'T'}"
    signature = args + " attr{name:'T' type:'type'}"
    body = "node_def{name:'n' op:'Neg' input:'x' attr{key:'T' value{placeholder:'T'}}}"
    text = function(body, RET, signature).replace("op:'F' input:'c'", f"op:'F' input:'c' {T}")
    with pytest.raises(TypeError, match="DType"):
        imported(text)
