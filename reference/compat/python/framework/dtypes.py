"""`tensorflow.python.framework.dtypes`: every dtype by its name, and the tables of them.

References (`float32_ref`) and numpy's types (`_np_bfloat16`) have their names here only.
"""

import numpy as np

from sessrun.reference.base.dtypes import ALL as _ALL
from sessrun.reference.base.dtypes import BY_NAME as _BY_NAME
from sessrun.reference.base.dtypes import NARROW as _NARROW
from sessrun.reference.base.dtypes import QUANTIZED as QUANTIZED_DTYPES
from sessrun.reference.base.dtypes import DType, as_dtype

__all__ = ["QUANTIZED_DTYPES", "TF_VALUE_DTYPES", "DType", "as_dtype", "dtype_range"]

#: The dtypes whose tensors hold plain values.
TF_VALUE_DTYPES = {dtype for dtype in _ALL if dtype.is_numpy_compatible}
_TYPE_TO_STRING = {dtype.as_datatype_enum: name for name, dtype in _BY_NAME.items()}
_OF_NO_NUMPY_TYPE = [
    dtype for dtype in _ALL if dtype.is_quantized or dtype in _NARROW or dtype.name == "bfloat16"
]

#: The least and the greatest number of a picture of each numpy dtype.
dtype_range: dict[object, tuple[object, object]] = {
    np.bool_: (False, True),
    np.float32: (-1, 1),
    np.float64: (-1, 1),
    **{
        kind: (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
        for kind in (
            np.uint8,
            np.uint16,
            np.uint32,
            np.uint64,
            np.int8,
            np.int16,
            np.int32,
            np.int64,
        )
    },
}

globals().update(_BY_NAME)
globals().update({f"_np_{dtype.name}": dtype.as_numpy_dtype for dtype in _OF_NO_NUMPY_TYPE})
for _name, _same in (("half", "float16"), ("double", "float64")):
    globals()[_name] = _BY_NAME[_same]
    globals()[_name + "_ref"] = _BY_NAME[_same + "_ref"]
