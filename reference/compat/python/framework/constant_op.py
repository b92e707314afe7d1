"""`tensorflow.python.framework.constant_op`, where `constant` is that of TensorFlow 2."""

from sessrun.reference.build.constant_op import constant as constant_v1
from sessrun.reference.build.constant_op import constant_v2 as constant
from sessrun.reference.build.conversion import convert_to_tensor

__all__ = ["constant", "constant_v1", "convert_to_tensor"]
