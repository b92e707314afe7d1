"""Streams of random words and what is made of them: known answers, definitions, TensorFlow's."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from operation_oracle import Oracle

from sessrun.reference.kernels import shuffling
from sessrun.reference.kernels.philox import RESERVED, Stream
from sessrun.reference.kernels.registry import Bind, Node, lookup
from sessrun.reference.state.resources import ResourceStore
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.numeric import difference
from sessrun.spec.tables.ops import OPERATIONS

#: Counters, keys and words of philox4x32-10 that its authors publish (kat_vectors of Random123).
KNOWN = (
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
     [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
)  # fmt: skip
FLOATS = ("float16", "bfloat16", "float32", "float64")


def words(stream, first, count, stride=1):
    found = np.empty((count, 4), np.uint64)
    for block, even, odd in stream.groups(first, count, stride):
        found[block] = np.stack([even[0], odd[0], even[1], odd[1]], axis=1)
    return found


def kernel(op_type, store=None, **attrs):
    """The kernel of a node, bound in a session's store."""
    seeds = (attrs.pop("seed", 3), attrs.pop("seed2", 4))
    node = Node("node", op_type)
    bind = Bind(np, attrs, node, "/device:CPU:0", store or ResourceStore(), seeds)
    return lookup(op_type, "CPU").bind(bind)


def drawn(op_type, shape, dtype="float32", **attrs):
    return kernel(op_type, dtype=dtype, **attrs)(np.array(shape, np.int32))


@pytest.mark.parametrize(("counter", "key", "wanted"), KNOWN)
def test_words_are_those_that_the_authors_publish(counter, key, wanted):
    low, high = (counter[i] | counter[i + 1] << 32 for i in (0, 2))
    stream = Stream(np, key[0] | key[1] << 32, high)
    assert words(stream, low, 1).tolist() == [wanted]


def test_blocks_and_strides_do_not_change_the_words():
    whole = words(Stream(np, 1, 2), 2**32 - 50, 300)  # the counter's second word begins to count
    for block in (1, 7, 299):
        assert (words(Stream(np, 1, 2, block), 2**32 - 50, 300) == whole).all()
    assert (words(Stream(np, 1, 2), 2**32 - 50, 100, stride=3) == whole[::3]).all()
    assert len(np.unique(whole)) == whole.size


def test_negative_seeds_are_those_modulo_two_to_the_64th():
    assert (words(Stream(np, -1, -2), 0, 5) == words(Stream(np, 2**64 - 1, 2**64 - 2), 0, 5)).all()


def test_threads_never_share_a_counter():
    stream, taken = Stream(np, 1, 2), []

    def take():
        taken.extend((first, size) for size in range(1, 200) for first in [stream.reserve(size)])

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends = sorted(taken)
    assert [first for first, _ in ends[1:]] == [first + size for first, size in ends[:-1]]


def test_a_run_takes_256_counters_for_each_element():
    store = ResourceStore()
    draw = kernel("RandomUniform", store, dtype="float32")
    draw(np.array([7], np.int32))
    draw(np.array([0], np.int32))
    later = draw(np.array([4], np.int32))
    expected = words(Stream(np, 3, 4), 7 * RESERVED, 1)[0] % 2**23 / 2**23
    assert (later == expected.astype(np.float32)).all()


def test_a_node_keeps_its_stream_for_the_session_only():
    store = ResourceStore()
    first, again = (kernel("RandomUniform", store, dtype="float32") for _ in range(2))
    shape = np.array([3], np.int32)
    a, b = first(shape), again(shape)
    assert not (a == b).any()
    assert (kernel("RandomUniform", dtype="float32")(shape) == a).all()


def test_without_seeds_every_session_draws_other_numbers():
    a, b = (drawn("RandomUniform", [4], seed=0, seed2=0) for _ in range(2))
    assert not (a == b).any()


@pytest.mark.parametrize("bits", [1, 3, 13])
def test_blocks_of_swaps_are_the_swaps_one_by_one(monkeypatch, bits):
    monkeypatch.setattr(shuffling, "_BITS", bits)
    monkeypatch.setattr(shuffling, "_BLOCK", 1 << bits)
    random = np.random.default_rng(bits)
    for size in [*range(2, 40), 1000]:
        near = 1 + random.integers(0, size)  # partners far off, or close by and often the same
        partners = np.arange(size - 1) + random.integers(0, near, size - 1)
        partners = np.minimum(partners, size - 1)
        wanted = list(range(size))
        for i, j in enumerate(partners):
            wanted[i], wanted[j] = wanted[j], wanted[i]
        rows = np.arange(size)
        shuffling._swap(rows, partners)
        assert rows.tolist() == wanted


def test_a_shuffled_value_is_a_new_array():
    value = np.arange(10)
    got = kernel("RandomShuffle", T="int64")(value)
    assert sorted(got.tolist()) == list(range(10)) == value.tolist()
    assert not np.shares_memory(got, value)


def test_integers_are_evenly_spread():
    draw = kernel("RandomUniformInt", Tout="int32")
    got = draw(np.array([60_000], np.int32), np.int32(-3), np.int32(3))
    counted = np.bincount(got + 3, minlength=6)
    assert len(counted) == 6
    assert (abs(counted - 10_000) < 500).all()  # five deviations


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_numbers_have_their_moments(dtype):
    got = drawn("RandomStandardNormal", [40_000], dtype).astype(np.float64)
    assert abs(got.mean()) < 0.03
    assert abs(got.std() - 1) < 0.03
    assert abs((got**3).mean()) < 0.1
    assert abs((got**4).mean() - 3) < 0.25


@pytest.mark.parametrize("dtype", FLOATS)
def test_truncated_normal_numbers_are_the_first_that_are_not_cut_off(dtype):
    got = drawn("TruncatedNormal", [1001], dtype).astype(np.float64)
    width = 2 if dtype == "float64" else 4
    wide = "float64" if dtype == "float64" else "float32"
    cut = 0
    for group in range(-(-1001 // width)):
        store = ResourceStore()
        draw = kernel("RandomStandardNormal", store, dtype=wide)
        draw(np.array([group * width // 4], np.int32))  # takes what lies before, by fours
        if group * width % 4:
            continue
        numbers = draw(np.array([width * 20], np.int32))
        good = numbers[np.abs(numbers) < 2][:width].astype(BY_NAME[dtype].numpy)
        part = got[group * width : (group + 1) * width]
        cut += (np.abs(numbers[:width]) >= 2).any()
        assert (part == good[: len(part)].astype(np.float64)).all()
    assert cut > 10


def test_values_own_their_memory():
    """A limited device charges only such."""
    for op_type in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        assert drawn(op_type, [5]).base is None


@pytest.fixture(scope="module")
def oracle():
    return Oracle()


@pytest.mark.tensorflow
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op_type", ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"])
def test_a_hundred_thousand_numbers_are_tensorflows(oracle, op_type, dtype):
    tf, seeds = oracle.tf, {"seed": -5, "seed2": 2**40}
    draw = kernel(op_type, dtype=dtype, **seeds)
    contract = (OPERATIONS[op_type].numeric or {}).get(dtype, "exact")
    with tf.Graph().as_default(), tf.Session() as session:
        shape = tf.placeholder(tf.int32, [None])
        make = getattr(tf.raw_ops, op_type)
        made = make(shape=shape, dtype=getattr(tf, dtype), **seeds)
        for dims in ([100_003], [3], [17, 600]):
            wanted = session.run(made, {shape: dims})
            assert difference(contract, wanted, draw(np.array(dims, np.int32))) is None


@pytest.mark.tensorflow
def test_poisson_numbers_of_negative_and_infinite_means_are_tensorflows(namespaces):
    for tf in namespaces:
        with tf.Graph().as_default(), tf.Session() as session:
            rates = np.array([-1.0, -np.inf, np.inf])
            drawn = tf.raw_ops.RandomPoissonV2(shape=[2], rate=rates, dtype=tf.float32, seed=1)
            assert session.run(drawn).tolist() == [[0, 0, np.inf]] * 2
