"""`tf.image`: what programs do with pictures, over the operations on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["LATER"]

#: The modules of this room, and the public names for which each is imported.
LATER: Final[Mapping[str, str]] = {
    "api.pictures.adjusting": (
        "image.adjust_brightness image.adjust_contrast image.adjust_gamma image.adjust_hue "
        "image.adjust_jpeg_quality image.adjust_saturation image.random_brightness "
        "image.random_contrast image.random_hue image.random_jpeg_quality image.random_saturation"
    ),
    "api.pictures.boxes": (
        "image.combined_non_max_suppression image.crop_and_resize image.draw_bounding_boxes "
        "image.extract_glimpse image.non_max_suppression image.non_max_suppression_overlaps "
        "image.non_max_suppression_with_scores image.sample_distorted_bounding_box"
    ),
    "api.pictures.converting": (
        "image.convert_image_dtype image.grayscale_to_rgb image.per_image_standardization "
        "image.rgb_to_grayscale image.rgb_to_yiq image.rgb_to_yuv image.yiq_to_rgb "
        "image.yuv_to_rgb"
    ),
    "api.pictures.files": (
        "image.decode_image image.encode_png image.is_jpeg io.decode_image io.encode_png io.is_jpeg"
    ),
    "api.pictures.flips": "image.flip_left_right image.flip_up_down image.random_flip_left_right "
    "image.random_flip_up_down image.rot90 image.transpose image.transpose_image",
    "api.pictures.frames": (
        "image.central_crop image.crop_to_bounding_box image.pad_to_bounding_box "
        "image.resize_image_with_crop_or_pad image.resize_with_crop_or_pad"
    ),
    "api.pictures.likeness": "image.sobel_edges image.ssim image.ssim_multiscale",
    "api.pictures.measures": "image.image_gradients image.psnr image.total_variation",
    "api.pictures.resizing": (
        "image.ResizeMethod image.resize image.resize_area image.resize_bicubic "
        "image.resize_bilinear image.resize_image_with_pad image.resize_images "
        "image.resize_nearest_neighbor"
    ),
    "api.pictures.suppression": "image.non_max_suppression_padded",
}
