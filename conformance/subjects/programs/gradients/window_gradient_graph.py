"""Programs of the nodes that gradients of operations add: windows, pictures, normalizations."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.subjects.programs.gradient_nodes import gradients_of

__all__ = ["BEHAVIOURS", "TOPIC"]

#: These programs belong to the topic of the module `gradient_graph`.
TOPIC = "gradient_graph"

_ROW, _MATRIX = (3,), (2, 3)
_PICTURES, _FILTERS, _VOLUMES = (2, 5, 6, 3), (3, 2, 3, 4), (1, 4, 5, 4, 2)
_STEPS: Final = {"strides": [1, 2, 1, 1], "padding": "SAME"}
_WINDOW: Final = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "padding": "VALID"}
_WINDOW_OF_VOLUMES: Final = {
    "ksize": [1, 2, 3, 2, 1],
    "strides": [1, 2, 1, 2, 1],
    "padding": "SAME",
}

BEHAVIOURS = {
    "windows": gradients_of(
        ("Conv2D", {"input": _PICTURES, "filter": _FILTERS, **_STEPS}),
        (
            "Conv2D",
            {
                "input": _PICTURES,
                "filter": _FILTERS,
                "strides": [1, 1, 1, 1],
                "padding": "EXPLICIT",
                "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0],
                "dilations": [1, 1, 2, 1],
            },
        ),
        (
            "Conv2DBackpropInput",
            {
                "input_sizes": [2, 5, 6, 3],
                "filter": _FILTERS,
                "out_backprop": (2, 3, 6, 4),
                **_STEPS,
            },
        ),
        (
            "Conv2DBackpropFilter",
            {
                "input": _PICTURES,
                "filter_sizes": [3, 2, 3, 4],
                "out_backprop": (2, 3, 6, 4),
                **_STEPS,
            },
        ),
        (
            "Conv3D",
            {"input": _VOLUMES, "filter": (2, 1, 2, 2, 3), "strides": [1] * 5, "padding": "VALID"},
        ),
        (
            "Conv3DBackpropInputV2",
            {
                "input_sizes": [1, 4, 5, 4, 2],
                "filter": (2, 1, 2, 2, 3),
                "out_backprop": (1, 3, 5, 3, 3),
                "strides": [1] * 5,
                "padding": "VALID",
            },
        ),
        (
            "Conv3DBackpropFilterV2",
            {
                "input": _VOLUMES,
                "filter_sizes": [2, 1, 2, 2, 3],
                "out_backprop": (1, 3, 5, 3, 3),
                "strides": [1] * 5,
                "padding": "VALID",
            },
        ),
        *(
            (f"DepthwiseConv2dNative{kind}", {**given, "strides": [1, 1, 1, 1], "padding": "SAME"})
            for kind, given in (
                ("", {"input": _PICTURES, "filter": (3, 2, 3, 2)}),
                (
                    "BackpropInput",
                    {
                        "input_sizes": [2, 5, 6, 3],
                        "filter": (3, 2, 3, 2),
                        "out_backprop": (2, 5, 6, 6),
                    },
                ),
                (
                    "BackpropFilter",
                    {
                        "input": _PICTURES,
                        "filter_sizes": [3, 2, 3, 2],
                        "out_backprop": (2, 5, 6, 6),
                    },
                ),
            )
        ),
        ("MaxPool", {"input": _PICTURES, **_WINDOW}),
        ("AvgPool", {"value": _PICTURES, **_WINDOW}),
        ("MaxPool3D", {"input": _VOLUMES, **_WINDOW_OF_VOLUMES}),
        ("AvgPool3D", {"input": _VOLUMES, **_WINDOW_OF_VOLUMES}),
        (
            "MaxPoolV2",
            {"input": _PICTURES, "ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "padding": "SAME"},
        ),
        ("MaxPoolWithArgmax", {"input": _PICTURES, **_WINDOW}),
        *(
            (name, {"orig_input": _PICTURES, "orig_output": (2, 2, 4, 3), "grad": grad, **_WINDOW})
            for name, grad in (("MaxPoolGrad", (2, 2, 4, 3)), ("MaxPoolGradGrad", _PICTURES))
        ),
        ("AvgPoolGrad", {"orig_input_shape": [2, 5, 6, 3], "grad": (2, 2, 4, 3), **_WINDOW}),
        ("FractionalMaxPool", {"value": _PICTURES, "pooling_ratio": [1.0, 1.5, 1.2, 1.0]}),
        (
            "FractionalAvgPool",
            {"value": _PICTURES, "pooling_ratio": [1.0, 1.5, 1.2, 1.0], "overlapping": True},
        ),
        (
            "Dilation2D",
            {
                "input": _PICTURES,
                "filter": (2, 2, 3),
                "strides": [1, 1, 2, 1],
                "rates": [1, 2, 1, 1],
                "padding": "SAME",
            },
        ),
        (
            "ExtractImagePatches",
            {
                "images": _PICTURES,
                "ksizes": [1, 2, 3, 1],
                "strides": [1, 2, 1, 1],
                "rates": [1, 1, 1, 1],
                "padding": "VALID",
            },
        ),
    ),
    "pictures": gradients_of(
        *(
            (f"Resize{kind}", {"images": _PICTURES, "size": [4, 7], "half_pixel_centers": True})
            for kind in ("Bicubic", "Bilinear", "NearestNeighbor")
        ),
        (
            "ScaleAndTranslate",
            {"images": _PICTURES, "size": [4, 7], "scale": (2,), "translation": (2,)},
        ),
        (
            "CropAndResize",
            {"image": _PICTURES, "boxes": (1, 4), "box_ind": (1, "int32"), "crop_size": [2, 3]},
        ),
        ("RGBToHSV", {"images": _MATRIX}),
        (
            "ImageProjectiveTransformV2",
            {
                "images": _PICTURES,
                "transforms": (1, 8),
                "output_shape": [3, 4],
                "interpolation": "NEAREST",
            },
        ),
    ),
    "normalizations": gradients_of(
        *(
            (
                "FusedBatchNormV3",
                {
                    "x": _PICTURES,
                    "scale": _ROW,
                    "offset": _ROW,
                    "mean": _ROW,
                    "variance": _ROW,
                    "epsilon": 0.5,
                    "is_training": training,
                },
            )
            for training in (True, False)
        ),
        (
            "FusedBatchNorm",
            {
                "x": (2, 3, 5, 6),
                "scale": _ROW,
                "offset": _ROW,
                "mean": [],
                "variance": [],
                "data_format": "NCHW",
            },
        ),
        ("FakeQuantWithMinMaxArgs", {"inputs": _MATRIX, "min": -2.0, "num_bits": 4}),
        ("FakeQuantWithMinMaxVars", {"inputs": _MATRIX, "min": (), "max": ()}),
        (
            "FakeQuantWithMinMaxVarsPerChannel",
            {"inputs": _MATRIX, "min": _ROW, "max": _ROW, "narrow_range": True},
        ),
        ("QuantizeAndDequantizeV2", {"input": _MATRIX, "input_min": (), "input_max": ()}),
        (
            "QuantizeAndDequantizeV4",
            {"input": _MATRIX, "input_min": (), "input_max": (), "axis": -1},
        ),
        ("RandomGamma", {"shape": [2], "alpha": _ROW, "seed": 1, "seed2": 2}),
        (
            "CTCLoss",
            {
                "inputs": (4, 2, 3),
                "labels_indices": [[0, 0]],
                "labels_values": [1],
                "sequence_length": (2, "int32"),
            },
        ),
        ("RFFT", {"input": (2, 6), "fft_length": [6]}),
        ("IRFFT", {"input": (2, 4, "complex64"), "fft_length": [6]}),
        ("RFFT2D", {"input": (4, 6), "fft_length": [4, 6]}),
    ),
}
