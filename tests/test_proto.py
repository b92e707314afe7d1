"""The messages of `sessrun.spec.proto`: equal to TensorFlow's on the wire, safe on bad input."""

import importlib
import importlib.metadata
import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import json_format, text_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.wrappers_pb2 import StringValue

from sessrun.spec import proto
from sessrun.spec.proto import foreign, regenerate
from sessrun.spec.proto.checkpoint_pb2 import DESCRIPTOR as CHECKPOINT
from sessrun.spec.proto.config_pb2 import DESCRIPTOR as CONFIG
from sessrun.spec.proto.debug_info_pb2 import DESCRIPTOR as DEBUG_INFO
from sessrun.spec.proto.graph_pb2 import DESCRIPTOR as GRAPH
from sessrun.spec.proto.input_pb2 import DESCRIPTOR as INPUT
from sessrun.spec.proto.metadata_pb2 import DESCRIPTOR as METADATA
from sessrun.spec.proto.server_pb2 import DESCRIPTOR as SERVER
from sessrun.spec.proto.state_pb2 import DESCRIPTOR as STATE
from sessrun.spec.proto.summary_pb2 import DESCRIPTOR as SUMMARY

FILES = (CHECKPOINT, CONFIG, DEBUG_INFO, GRAPH, INPUT, METADATA, SERVER, STATE, SUMMARY)
TWINS = (
    "tensorflow.core.protobuf.config_pb2",
    "tensorflow.core.protobuf.control_flow_pb2",
    "tensorflow.core.framework.device_attributes_pb2",
    "tensorflow.core.example.example_pb2",
    "tensorflow.core.framework.reader_base_pb2",
    "tensorflow.core.util.event_pb2",
    "tensorflow.core.util.saved_tensor_slice_pb2",
    "tensorflow.core.protobuf.queue_runner_pb2",
    "tensorflow.core.protobuf.saved_model_pb2",
    "tensorflow.core.protobuf.tensor_bundle_pb2",
    "tensorflow.core.protobuf.tensorflow_server_pb2",
    "tensorflow.core.protobuf.device_filters_pb2",
    "tensorflow.python.training.checkpoint_state_pb2",
    "tensorflow.core.framework.variable_pb2",
)
#: The one definition that TensorFlow keeps in a package of its own.
RENAMED = {"sessrun.Code": "tensorflow.error.Code"}
FILLINGS = 8
MUTATIONS = 2000
MAX_DEPTH = 4


def nested(message: Descriptor) -> list[Descriptor]:
    """The message and all messages declared in it, but for the entries of maps."""
    inner = [each for child in message.nested_types for each in nested(child)]
    return [] if message.GetOptions().map_entry else [message, *inner]


MESSAGES = {
    each.full_name: each
    for file in FILES
    for top in file.message_types_by_name.values()
    for each in nested(top)
}
ENUMS = {
    each.full_name: each
    for owner in (
        *(file.enum_types_by_name for file in FILES),
        *(message.enum_types_by_name for message in MESSAGES.values()),
    )
    for each in owner.values()
}


def twin_name(name: str) -> str:
    return RENAMED.get(name, name.replace("sessrun.", "tensorflow.", 1))


@pytest.fixture(scope="session")
def tensorflow_pool():
    pytest.importorskip("tensorflow")
    modules = [importlib.import_module(name) for name in TWINS]
    return modules[0].DESCRIPTOR.pool


SCALARS = {
    FieldDescriptor.CPPTYPE_BOOL: lambda rng: rng.random() < 0.5,
    FieldDescriptor.CPPTYPE_INT32: lambda rng: rng.choice((0, -1, 7, 2**31 - 1, -(2**31))),
    FieldDescriptor.CPPTYPE_INT64: lambda rng: rng.choice((0, -1, 7, 2**63 - 1, -(2**63))),
    FieldDescriptor.CPPTYPE_UINT32: lambda rng: rng.choice((0, 7, 2**32 - 1)),
    FieldDescriptor.CPPTYPE_UINT64: lambda rng: rng.choice((0, 7, 2**64 - 1)),
    FieldDescriptor.CPPTYPE_FLOAT: lambda rng: rng.choice((-0.0, 0.1, 1e30, float("inf"))),
    FieldDescriptor.CPPTYPE_DOUBLE: lambda rng: rng.choice((-0.0, 0.1, 1e300, float("nan"))),
}


def scalar(rng: random.Random, field: FieldDescriptor):
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return rng.choice([value.number for value in field.enum_type.values] + [4711])
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.randbytes(rng.randrange(6))
    if field.type == FieldDescriptor.TYPE_STRING:
        return "".join(rng.choices('aZ9_/:^"\\\n\x7fäß☃𝄞', k=rng.randrange(6)))
    return SCALARS[field.cpp_type](rng)


def is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def fill(message: Message, rng: random.Random, depth: int = 0) -> Message:
    """Sets fields at random, nested messages down to MAX_DEPTH, and returns the message."""
    if message.DESCRIPTOR.full_name == "google.protobuf.Any":
        message.Pack(StringValue(value="packed"))
        return message
    chance = 0.9 / (1 + depth)
    for field in message.DESCRIPTOR.fields:
        if rng.random() < chance:
            fill_field(message, field, rng, depth + 1)
    return message


def fill_field(message: Message, field: FieldDescriptor, rng: random.Random, depth: int) -> None:
    if field.message_type is not None and depth > MAX_DEPTH:
        return
    value = getattr(message, field.name)
    count = rng.randrange(1, 4)
    if is_map(field):
        fill_map(value, field, rng, depth, count)
    elif field.is_repeated and field.message_type is not None:
        for _ in range(count):
            fill(value.add(), rng, depth)
    elif field.is_repeated:
        value.extend(scalar(rng, field) for _ in range(count))
    elif field.message_type is not None:
        value.SetInParent()
        fill(value, rng, depth)
    else:
        setattr(message, field.name, scalar(rng, field))


def fill_map(entries, field: FieldDescriptor, rng, depth: int, count: int) -> None:
    key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
    for _ in range(count):
        if value.message_type is not None:
            fill(entries[scalar(rng, key)], rng, depth)
        else:
            entries[scalar(rng, key)] = scalar(rng, value)


def seeded(name: str, seed: int) -> random.Random:
    return random.Random(f"{name}:{seed}")


def filled(name: str, seed: int) -> Message:
    return fill(GetMessageClass(MESSAGES[name])(), seeded(name, seed))


def as_json(message: Message) -> str:
    return json_format.MessageToJson(message, sort_keys=True)


def as_declared(descriptor: Descriptor | EnumDescriptor) -> DescriptorProto | EnumDescriptorProto:
    """A descriptor in full (names, numbers, types, options, reserved), in TensorFlow's names."""
    into = EnumDescriptorProto() if isinstance(descriptor, EnumDescriptor) else DescriptorProto()
    descriptor.CopyToProto(into)
    pending = [into] if isinstance(into, DescriptorProto) else []
    while pending:
        each = pending.pop()
        pending.extend(each.nested_type)
        each.nested_type.sort(key=lambda inner: inner.name)
        for field in each.field:
            field.type_name = "." + twin_name(field.type_name[1:]) if field.type_name else ""
    return into


def test_package_exports_every_message_and_enum():
    # Those of checkpoints are not public; those of input and summaries are imported when needed.
    files = [file for file in FILES if file not in (CHECKPOINT, INPUT, SUMMARY)]
    names = [name for file in files for name in file.message_types_by_name]
    names += [name for file in files for name in file.enum_types_by_name]
    assert sorted(proto.__all__) == sorted(names)
    assert all(hasattr(proto, name) for name in names)


def test_nothing_is_registered_under_tensorflow_names():
    assert {file.package for file in FILES} == {"sessrun"}
    assert all(file.name.startswith("sessrun/spec/proto/") for file in FILES)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", MESSAGES)
def test_message_is_declared_as_in_tensorflow(name, tensorflow_pool):
    twin = tensorflow_pool.FindMessageTypeByName(twin_name(name))
    assert as_declared(MESSAGES[name]) == as_declared(twin)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ENUMS)
def test_enum_is_declared_as_in_tensorflow(name, tensorflow_pool):
    twin = tensorflow_pool.FindEnumTypeByName(twin_name(name))
    assert as_declared(ENUMS[name]) == as_declared(twin)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", MESSAGES)
def test_filled_message_is_written_as_by_tensorflow(name, tensorflow_pool):
    cls = GetMessageClass(tensorflow_pool.FindMessageTypeByName(twin_name(name)))
    for seed in range(FILLINGS):
        ours = filled(name, seed)
        theirs = fill(cls(), seeded(name, seed))
        wire = theirs.SerializeToString(deterministic=True)
        assert foreign.serialize(ours) == wire, f"seed {seed}"
        assert str(ours) == str(theirs), f"seed {seed}"
        assert as_json(ours) == as_json(theirs), f"seed {seed}"
        assert foreign.serialize(foreign.adopt(theirs, type(ours))) == wire, f"seed {seed}"


@pytest.mark.tensorflow
def test_adopt_refuses_another_message_of_tensorflow(tensorflow_pool):
    cls = GetMessageClass(tensorflow_pool.FindMessageTypeByName("tensorflow.NodeDef"))
    with pytest.raises(TypeError, match=r"expected a sessrun\.GraphDef .* got a tensorflow\.Node"):
        foreign.adopt(cls(), proto.GraphDef)


def test_adopt_returns_own_message_itself():
    config = proto.ConfigProto(allow_soft_placement=True)
    assert foreign.adopt(config, proto.ConfigProto) is config


@pytest.mark.parametrize("value", [None, {}, b"", proto.NodeDef(), proto.GraphDef, StringValue()])
def test_adopt_refuses_everything_else(value):
    with pytest.raises(TypeError, match=r"expected a sessrun\.GraphDef or a tensorflow\.GraphDef"):
        foreign.adopt(value, proto.GraphDef)


@pytest.mark.parametrize("name", MESSAGES)
def test_filled_message_survives_bytes_text_and_json(name):
    for seed in range(FILLINGS):
        message = filled(name, seed)
        cls, wire = type(message), foreign.serialize(message)
        text = text_format.MessageToString(message)
        assert foreign.serialize(foreign.parse(cls, wire, "bytes")) == wire, f"seed {seed}"
        assert foreign.serialize(foreign.parse_text(cls, text, "text")) == wire, f"seed {seed}"
        back = foreign.parse_json(cls, as_json(message), "JSON")
        assert foreign.serialize(back) == wire, f"seed {seed}"


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Overwrites, inserts or deletes a few bytes, or cuts the end off."""
    out = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(out) + 1)
        span = rng.choice((0, 0, 1, 1, 2, len(out)))
        out[at : at + span] = rng.randbytes(rng.randrange(3))
    return bytes(out)


READERS = {
    "bytes": (foreign.serialize, foreign.parse),
    "text": (
        lambda message: text_format.MessageToString(message).encode(),
        lambda cls, data, source: foreign.parse_text(cls, data.decode("utf-8", "replace"), source),
    ),
    "JSON": (
        lambda message: as_json(message).encode(),
        lambda cls, data, source: foreign.parse_json(cls, data.decode("utf-8", "replace"), source),
    ),
}


@pytest.mark.parametrize("form", READERS)
def test_mutated_input_gives_a_message_or_a_proto_error(form):
    write, read = READERS[form]
    names = [f"sessrun.{name}" for name in ("GraphDef", "ConfigProto", "RunMetadata", "SavedModel")]
    originals = {name: write(filled(name, 1)) for name in names}
    refusals = []
    for seed in range(MUTATIONS):
        name = names[seed % len(names)]
        data = mutated(originals[name], seeded(form, seed))
        cls = GetMessageClass(MESSAGES[name])
        try:
            assert isinstance(read(cls, data, "a mutation"), cls)
        except foreign.ProtoError as error:
            refusals.append((error.source, error.kind))
    assert set(refusals) == {("a mutation", name) for name in names}
    assert len(refusals) < MUTATIONS


def test_deep_nesting_is_a_proto_error():
    deep = 20_000
    wire = b""
    for _ in range(200):
        wire = b"\x12" + proto_varint(len(wire)) + wire
    with pytest.raises(foreign.ProtoError):
        foreign.parse(proto.FullTypeDef, wire, "deep bytes")
    with pytest.raises(foreign.ProtoError, match="deep text"):
        foreign.parse_text(proto.FullTypeDef, "args {" * deep + "}" * deep, "deep text")
    with pytest.raises(foreign.ProtoError, match="deep JSON"):
        foreign.parse_json(proto.FullTypeDef, '{"args": [' * deep + "]}" * deep, "deep JSON")


def proto_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (foreign.parse, b"\xff"),
        (foreign.parse_text, "no_such_field: 1"),
        (foreign.parse_text, 'device: "\ud800"'),
        (foreign.parse_json, '{"noSuchField": 1}'),
        (foreign.parse_json, '{"device": "\ud800"}'),
        (foreign.parse_json, "[1]"),
        (foreign.parse_json, ""),
    ],
)
def test_proto_error_names_source_and_message(read, data):
    with pytest.raises(foreign.ProtoError, match=r"the file holds no valid sessrun\.NodeDef: \S"):
        read(proto.NodeDef, data, "the file")


def test_proto_error_survives_pickling():
    error = foreign.ProtoError("sessrun.NodeDef", "a.pb", "cut off")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - workers send exceptions so
    assert (str(again), again.source, again.reason) == (str(error), "a.pb", "cut off")


def test_serialize_refuses_more_than_the_limit(monkeypatch):
    message = proto.NodeDef(name="abcd")
    size = message.ByteSize()
    monkeypatch.setattr(foreign, "MAX_BYTES", size)
    assert len(foreign.serialize(message)) == size
    monkeypatch.setattr(foreign, "MAX_BYTES", size - 1)
    with pytest.raises(ValueError, match=f"sessrun.NodeDef takes {size} bytes; the limit"):
        foreign.serialize(message)


def has_compiler() -> bool:
    try:
        return importlib.metadata.version("grpcio-tools") == regenerate.COMPILER
    except importlib.metadata.PackageNotFoundError:
        return False


needs_compiler = pytest.mark.skipif(not has_compiler(), reason="needs grpcio-tools 1.74.0")


@needs_compiler
def test_generated_code_is_current():
    command = [sys.executable, "-m", "sessrun.spec.proto.regenerate", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_compiler
def test_check_names_the_file_that_differs(tmp_path):
    fresh = regenerate.compile_into(tmp_path)
    assert regenerate.stale(fresh) == []
    changed = fresh / "graph_pb2.py"
    changed.write_bytes(changed.read_bytes() + b"\n")
    (fresh / "metadata_pb2.pyi").unlink()
    assert regenerate.stale(fresh) == ["graph_pb2.py", "metadata_pb2.pyi"]


@pytest.mark.parametrize("found", ["1.73.0", "1.82.0", "none"])
def test_another_compiler_is_refused_with_what_to_install(found, monkeypatch):
    def version(_: str) -> str:
        if found == "none":
            raise importlib.metadata.PackageNotFoundError
        return found

    monkeypatch.setattr(regenerate, "version", version)
    with pytest.raises(SystemExit, match=rf"found {found}; .*pip install grpcio-tools==1\.74\.0"):
        regenerate.main(["--check"])


def test_generated_code_names_the_oldest_runtime():
    folder = Path(regenerate.__file__).parent
    heads = {path.name: path.read_text()[:400] for path in folder.glob("*_pb2.py")}
    assert len(heads) == len(FILES)
    assert all("Protobuf Python Version: 6.31.1" in head for head in heads.values())
