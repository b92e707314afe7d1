"""Tables from words to their numbers, and back: `tf.lookup.StaticVocabularyTable` and its kin.

A word that is not in the vocabulary goes to one of some buckets, by its hash. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Final, NamedTuple, Self

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import add, not_equal, range_
from sessrun.reference.api.ops.shape_ops import size
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.api.tables.table_initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileStringTableInitializer,
)
from sessrun.reference.api.tables.tables import LookupInterface, StaticHashTable
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import no_op
from sessrun.reference.build.generated import (
    as_string,
    select_v2,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
)
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.state.tables.table_files import LINE_NUMBER, WHOLE_LINE

__all__ = [
    "FastHashSpec",
    "HasherSpec",
    "IdTableWithHashBuckets",
    "StaticVocabularyTable",
    "StrongHashSpec",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
]


class HasherSpec(NamedTuple):
    """How words that are not in a vocabulary are hashed.

    Attributes:
      hasher: `fasthash`, `stronghash` or `legacy`.
      key: the two numbers of a strong hash.

    """

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)
_STRONG: Final = "stronghash"


class StrongHashSpec(HasherSpec):
    """A hash under a key.

    Args:
      key: two numbers.

    Raises:
      TypeError: `key` is not a list of numbers.
      ValueError: `key` has not two elements.

    """

    __slots__ = ()

    def __new__(cls, key: Any) -> Self:
        """Make one of a key."""
        if len(key) != 2:
            raise ValueError(f"`key` must have size 2, received {len(key)}")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, _STRONG, key)


class _Bucketed(LookupInterface):
    """A table of words, and buckets for all others.

    Args:
      key_dtype: the dtype of the keys.
      table: the table of words, None if there are only buckets.
      buckets: how many there are.
      name: its name.

    """

    _hasher_spec = FastHashSpec

    def __init__(
        self, key_dtype: DTypeLike, table: StaticHashTable | None, buckets: int, name: str
    ) -> None:
        super().__init__(key_dtype, dtypes.int64)
        self._table = table
        self._num_oov_buckets = buckets
        self._table_name = name.rstrip("/").rpartition("/")[2]

    @property
    def name(self) -> str:
        """Its name."""
        return self._table_name

    @property
    def resource_handle(self) -> Any:
        """The resource tensor of the table of words; None if there is none."""
        return None if self._table is None else self._table.resource_handle

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table of words."""
        if self._table is not None:
            return self._table.initializer
        with name_scope("init"):
            return no_op()

    def size(self, name: str | None = None) -> Tensor:
        """How many numbers it may give: words and buckets."""
        with name_scope(name, f"{self.name}_Size"):
            words = constant(0, dtype=dtypes.int64) if self._table is None else self._table.size()
            return words + self._num_oov_buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The ids of words; of unknown words the ids of their buckets.

        Args:
          keys: a tensor or sparse tensor.
          name: the scope of the operations.

        Returns:
          A Tensor or SparseTensor of ids, as `keys` is.

        Raises:
          TypeError: the keys are of another dtype.

        """
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}"
            )
        words = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table is not None and self._table.key_dtype.base_dtype == dtypes.int64:
            words = cast(words, dtypes.int64)
        if self._num_oov_buckets:
            ids = self._ids_of_words(words, name)
        else:
            assert self._table is not None
            ids = self._table.lookup(words, name=name)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, ids, keys.dense_shape)
        return ids

    def _ids_of_words(self, words: Tensor, name: str | None) -> Tensor:
        with name_scope(name, f"{self.name}_Lookup"):
            buckets = self._hashed(words)
            if self._table is None:
                return buckets
            ids = self._table.lookup(words)
            buckets = add(buckets, self._table.size(), name="Add")
            is_word = not_equal(ids, self._table.default_value)
            return select_v2(is_word, ids, buckets)

    def _hashed(self, words: Tensor) -> Tensor:
        text = words
        if words.dtype.base_dtype in {dtypes.int32, dtypes.int64}:
            text = as_string(words)
        hasher, key = self._hasher_spec
        if hasher == _STRONG:
            return string_to_hash_bucket_strong(
                text, self._num_oov_buckets, key, name="hash_bucket"
            )
        if hasher != FastHashSpec.hasher:
            raise ValueError(f"Found unknown hasher {hasher} in `hasher_spec`")
        return string_to_hash_bucket_fast(text, self._num_oov_buckets, name="hash_bucket")


def _checked_key(have: DType, wanted: DType) -> None:
    """Hold the dtype of the table of words to that of the keys."""
    if have not in {dtypes.int64, dtypes.string}:
        raise TypeError(
            f"Invalid `key_dtype`, expected one of (tf.int64, tf.string), but got {have}."
        )
    if have.is_integer != wanted.is_integer:
        kind = "integer" if wanted.is_integer else "non-integer"
        raise TypeError(f"Invalid `key_dtype`, expected {kind} but got {have}.")


def _checked_value(have: DType) -> None:
    if have != dtypes.int64:
        raise TypeError(f"Invalid `value_dtype`, expected {dtypes.int64} but got {have}.")


@public("lookup.StaticVocabularyTable")
class StaticVocabularyTable(_Bucketed):
    """Words that an initializer numbers from 0, and buckets with the numbers after them.

    Args:
      initializer: what fills the table of words; None for buckets alone.
      num_oov_buckets: how many buckets there are.
      lookup_key_dtype: the dtype of the keys, the initializer's if None.
      name: its name.
      experimental_is_anonymous: whether every run creates a separate table.

    Raises:
      TypeError: the initializer's dtypes do not fit.
      ValueError: there are no buckets.

    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        table = None
        dtype = dtypes.as_dtype(lookup_key_dtype or getattr(initializer, "key_dtype", "string"))
        if initializer is not None:
            _checked_key(initializer.key_dtype, dtype)
            _checked_value(initializer.value_dtype)
            table = StaticHashTable(
                initializer, -1, experimental_is_anonymous=experimental_is_anonymous
            )
        name = name or (table.name if table is not None else "hash_bucket")
        super().__init__(dtype, table, num_oov_buckets, name)


class IdTableWithHashBuckets(_Bucketed):
    """A table of words and their numbers, and buckets with the numbers after them.

    Args:
      table: the table of words; None for buckets alone.
      num_oov_buckets: how many buckets there are.
      hasher_spec: how words that are not in the table are hashed.
      name: its name.
      key_dtype: the dtype of the keys, the table's if None.

    Raises:
      TypeError: the table's dtypes do not fit, or `hasher_spec` is not a HasherSpec.
      ValueError: there is neither a table nor a bucket.

    """

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: DTypeLike | None = None,
    ) -> None:
        dtype = dtypes.as_dtype(key_dtype or getattr(table, "key_dtype", "string"))
        if table is not None:
            _checked_key(table.key_dtype, dtype)
            _checked_value(table.value_dtype)
        elif num_oov_buckets <= 0:
            raise ValueError("`oov_buckets` must be > 0 if no `table` is supplied.")
        if not dtype.is_integer and dtype != dtypes.string:
            raise TypeError(f"Invalid `key_dtype`, expected integer or string, got {dtype}.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"`hasher_spec` must be of type HasherSpec, got {type(hasher_spec)}.")
        self._hasher_spec = hasher_spec
        name = name or (table.name if table is not None else "hash_bucket")
        super().__init__(dtype, table, num_oov_buckets, name)

    @property
    def init(self) -> Operation:
        """As `initializer`."""
        return self.initializer


def _checked_vocabulary(file: object, vocab_size: int | None, *, named: bool = False) -> None:
    if file is None or (isinstance(file, str) and not file):
        raise ValueError("`vocabulary_file` must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        shown = get_static_value(file) if isinstance(file, Tensor) else file
        of_file = f" for vocabulary_file: {shown}" if named else ""
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}{of_file}.")


def _numbered(words: Tensor) -> Tensor:
    """The numbers of a vocabulary's words."""
    return cast(range_(size(words)), dtypes.int64)


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: TensorLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: DTypeLike = dtypes.string,
    name: str | None = None,
    key_column_index: int = WHOLE_LINE,
    value_column_index: int = LINE_NUMBER,
    delimiter: str = "\t",
) -> LookupInterface:
    """A table from the words of a file to the numbers of their lines.

    Raises:
      TypeError: the keys are neither integers nor strings.
      ValueError: no file is named, or a number is out of range.

    """
    _checked_vocabulary(vocabulary_file, vocab_size, named=True)
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    dtype = dtypes.as_dtype(key_dtype)
    if not dtype.is_integer and dtype.base_dtype != dtypes.string:
        raise TypeError("Dtype for `keys` should be either integer or string.")
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file,
                vocab_size=vocab_size,
                name="table_init",
                key_dtype=dtypes.int64 if dtype.is_integer else dtype,
                key_column_index=key_column_index,
                value_column_index=value_column_index,
                delimiter=delimiter,
            )
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def _with_buckets(
    table: StaticHashTable, buckets: int, hasher_spec: HasherSpec, dtype: DTypeLike
) -> LookupInterface:
    if not buckets:
        return table
    return IdTableWithHashBuckets(table, buckets, hasher_spec=hasher_spec, key_dtype=dtype)


def index_table_from_tensor(
    vocabulary_list: Sequence[TensorLike],
    num_oov_buckets: int = 0,
    default_value: TensorLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: DTypeLike = dtypes.string,
    name: str | None = None,
) -> LookupInterface:
    """A table from the words of a vector to their places.

    Raises:
      TypeError: the words are neither integers nor strings.
      ValueError: there are no words, they are not of that dtype, or a number is out of range.

    """
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` must be specified.")
    if num_oov_buckets < 0:
        raise ValueError(
            f"`num_oov_buckets` must be greater or equal than 0, got {num_oov_buckets}."
        )
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_integer and dtype.base_dtype != dtypes.string:
        raise TypeError("`dtype` must either be integer or string.")
    with name_scope(name, "string_to_index"):
        words = convert_to_tensor(vocabulary_list)
        have = words.dtype.base_dtype
        if have.is_integer != dtype.is_integer:
            kind = "integer" if dtype.is_integer else "non-integer"
            raise ValueError(f"Invalid `dtype`: Expected {kind}, got {have}.")
        if not dtype.is_integer and have != dtype:
            raise ValueError(f"Invalid `dtype`: Expected {dtype}, got {have}.")
        numbers = _numbered(words)
        with name_scope(None, "hash_table"):
            keys = cast(words, dtypes.int64) if have.is_integer else words
            initializer = KeyValueTensorInitializer(
                keys, numbers, keys.dtype.base_dtype, dtypes.int64, name="table_init"
            )
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def index_to_string_table_from_file(
    vocabulary_file: str | bytes | PathLike[str] | Tensor,
    vocab_size: int | None = None,
    default_value: TensorLike = "UNK",
    name: str | None = None,
    key_column_index: int = LINE_NUMBER,
    value_column_index: int = WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """A table from the numbers of a file's lines to their words.

    Raises:
      ValueError: no file is named, or the number of words is out of range.

    """
    _checked_vocabulary(vocabulary_file, vocab_size)
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file,
            vocab_size=vocab_size,
            name="table_init",
            key_column_index=key_column_index,
            value_column_index=value_column_index,
            delimiter=delimiter,
        )
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: Sequence[TensorLike] | Tensor,
    default_value: TensorLike = "UNK",
    name: str | None = None,
) -> StaticHashTable:
    """A table from the places of a vector's words to the words.

    Raises:
      ValueError: there are no words.

    """
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` argument must be specified.")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, dtypes.string)
        initializer = KeyValueTensorInitializer(
            _numbered(words), words, dtypes.int64, dtypes.string, name="table_init"
        )
        return StaticHashTable(initializer, default_value)
