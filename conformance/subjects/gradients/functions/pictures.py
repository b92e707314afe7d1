"""Functions of pictures, of signals and of their spectra."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.subjects.gradients.functions.inputs import (
    ALL,
    COMPLEX,
    WIDE,
    Form,
    Inputs,
    function,
)

__all__: list[str] = []

#: Functions of a picture alone.
_OF_ONE: Final = (
    "flip_left_right",
    "flip_up_down",
    "transpose",
    "rgb_to_grayscale",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "yiq_to_rgb",
    "yuv_to_rgb",
    "total_variation",
    "sobel_edges",
    "image_gradients",
    "per_image_standardization",
)
#: The sizes that a picture is resized to, from 3 by 4.
_SIZES: Final = ((3, 4), (6, 8), (2, 2), (5, 3), (1, 1))


@function("image.rot90", ("float32",))
def _rot90(x: Inputs) -> Form:
    return x.call("image.rot90", x.tensor((3, 3, 2), way="known"), x.choice(0, 1, 2, 3))


def _of_picture(name: str) -> None:
    @function(f"image.{name}", ("float32",))
    def _(x: Inputs) -> Form:
        corners = name != "total_variation"
        return x.call(
            f"image.{name}", x.tensor((2, 3, 4, 3), 0.0, 1.0, corners=corners, way="known")
        )


for _name in _OF_ONE:
    _of_picture(_name)


def _resized(method: str) -> None:
    @function(f"image.{method}", ("float32",), second=False)
    def _(x: Inputs) -> Form:
        corners = {} if method == "resize_area" else x.choice({}, {"align_corners": True})
        if method != "resize_area" and not corners and x.flag():
            corners = {"half_pixel_centers": True}
        return x.call(
            f"image.{method}",
            x.tensor((1, 3, 4, 2), way="known"),
            list(x.choice(*_SIZES)),
            **corners,
        )


for _name in ("resize_bilinear", "resize_nearest_neighbor", "resize_bicubic"):
    _resized(_name)


@function("image.resize_image_with_pad", ("float32",), second=False)
def _resize_with_pad(x: Inputs) -> Form:
    return x.call(
        "image.resize_image_with_pad", x.tensor((1, 3, 4, 2), way="known"), *x.choice(*_SIZES[:4])
    )


@function("image.resize_with_crop_or_pad", ("float32",))
def _crop_or_pad(x: Inputs) -> Form:
    return x.call(
        "image.resize_with_crop_or_pad", x.tensor((3, 4, 2), way="known"), *x.choice(*_SIZES)
    )


@function("image.central_crop", WIDE)
def _central_crop(x: Inputs) -> Form:
    return x.call("image.central_crop", x.tensor((4, 4, 2), way="known"), 0.5)


@function("image.crop_and_resize", ("float32",), second=False)
def _crop_and_resize(x: Inputs) -> Form:
    boxes = x.tensor((2, 4), 0.1, 0.9, corners=False)
    return x.call(
        "image.crop_and_resize",
        x.tensor((2, 3, 4, 2), way="known"),
        boxes,
        x.integers((2,), 0, 2, "int32"),
        [2, 3],
        method="bilinear",
    )


def _adjusted(name: str, *factors: float) -> None:
    @function(f"image.{name}", ("float32",), second=False)
    def _(x: Inputs) -> Form:
        value = x.tensor((2, 3, 3), 0.1, 0.9, corners=False, way="known")
        return x.call(f"image.{name}", value, x.choice(*factors))


_adjusted("adjust_brightness", 0.3, -0.2)
_adjusted("adjust_gamma", 0.5, 2.0)


@function("image.psnr", ("float32",))
def _psnr(x: Inputs) -> Form:
    one, other = (x.tensor((2, 3, 3, 3), 0.1, 0.9, corners=False, way="known") for _ in range(2))
    return x.call("image.psnr", one, other, 1.0)


@function("image.ssim", ("float32",), second=False)
def _ssim(x: Inputs) -> Form:
    one, other = (x.tensor((4, 4, 1), 0.1, 0.9, corners=False, way="known") for _ in range(2))
    return x.call("image.ssim", one, other, 1.0, filter_size=3)


def _transformed(name: str, rank: int) -> None:
    @function(f"signal.{name}", COMPLEX)
    def _(x: Inputs) -> Form:
        return x.call(f"signal.{name}", x.tensor((*x.shape(0, 1), *((3, 4, 2)[:rank]))))


for _name, _rank in (
    ("fft", 1),
    ("ifft", 1),
    ("fft2d", 2),
    ("ifft2d", 2),
    ("fft3d", 3),
    ("ifft3d", 3),
):
    _transformed(_name, _rank)


def _shifted(name: str) -> None:
    @function(f"signal.{name}", ALL)
    def _(x: Inputs) -> Form:
        shape = x.shape(1, 3)
        return x.call(
            f"signal.{name}", x.tensor(shape, way="known"), x.choice(None, x.axis(len(shape)))
        )


_shifted("fftshift")
_shifted("ifftshift")


@function("signal.rfft", WIDE, differences=False)
def _rfft(x: Inputs) -> Form:
    size = x.draw.randint(3, 6)
    return x.call(
        "abs", x.call("signal.rfft", x.tensor((2, size), 0.1, corners=False, way="known"))
    )


@function("signal.irfft", WIDE, second=False, differences=False)
def _irfft(x: Inputs) -> Form:
    spectrum = x.call("signal.rfft", x.tensor((2, 6), way="known"))
    return x.call("signal.irfft", x.call("multiply", spectrum, spectrum))


@function("signal.rfft2d", WIDE, second=False, differences=False)
def _rfft2d(x: Inputs) -> Form:
    spectrum = x.call("signal.rfft2d", x.tensor((3, 4), way="known"))
    return x.call("signal.irfft2d", x.call("multiply", spectrum, spectrum))


@function("signal.dct", WIDE)
def _dct(x: Inputs) -> Form:
    kind = x.choice(1, 2, 3, 4)
    norm = None if kind == 1 else x.choice(None, "ortho")
    return x.call("signal.dct", x.tensor((2, 4), way="known"), kind, norm=norm)


@function("signal.frame", WIDE)
def _frame(x: Inputs) -> Form:
    return x.call(
        "signal.frame", x.tensor((2, 7), way="known"), x.choice(2, 3), x.choice(1, 2, 4), x.flag()
    )


@function("signal.overlap_and_add", WIDE)
def _overlap_and_add(x: Inputs) -> Form:
    return x.call("signal.overlap_and_add", x.tensor((2, 3, 4), way="known"), x.choice(1, 2, 4))


@function("signal.stft", WIDE, second=False, differences=False)
def _stft(x: Inputs) -> Form:
    return x.call(
        "abs", x.call("signal.stft", x.tensor((9,), 0.3, corners=False, way="known"), 4, 2)
    )
