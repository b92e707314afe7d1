"""Faults of SUMMARIES in what operations give: numbers, histograms, tensors, sounds, images."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from PIL import Image

from sessrun.conformance.faulty.computing import computing, single
from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Fetches, Operation, Value
from sessrun.spec.proto import TensorProto
from sessrun.spec.proto.metadata_pb2 import RunMetadata
from sessrun.spec.proto.summary_pb2 import Summary

#: Changes a Summary, given the inputs of its operation.
_Edit = Callable[..., None]


def _edited(tf: Namespace, kind: str, edit: _Edit) -> Namespace:
    """The namespace whose operations of this type give a changed Summary."""

    def change(_op: Operation, output: np.ndarray, *inputs: np.ndarray) -> np.ndarray:
        summary = Summary.FromString(output.item())
        edit(summary, *inputs)
        held = np.empty((), object)
        held[()] = summary.SerializeToString()
        return held

    return computing(tf, {kind: single(change)})


def _accepting(tf: Namespace, kind: str, text: str) -> Namespace:
    """The namespace whose operations of this type give an empty Summary for a wrong input.

    Only where the message of the conforming error contains `text`.
    """

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            try:
                return super().run(fetches, *args, **kwargs)
            except tf.errors.InvalidArgumentError as error:
                if getattr(error.op, "type", None) != kind or text not in error.message:
                    raise
                return [b""]

    return override(tf, Session=Session)


@fault("SUMMARIES-001", "Numbers in summaries are rounded to half precision.")
def numbers_of_half_precision(tf: Namespace) -> Namespace:
    """Round each number to float16."""

    def edit(summary: Summary, *_inputs: np.ndarray) -> None:
        for value in summary.value:
            value.simple_value = float(np.float16(value.simple_value))

    return _edited(tf, "ScalarSummary", edit)


@fault("SUMMARIES-002", "Tags and values of different shapes are put together as far as they go.")
def tags_without_values(tf: Namespace) -> Namespace:
    """Take what is refused."""
    return _accepting(tf, "ScalarSummary", "not the same shape")


@fault("SUMMARIES-003", "The sums of a histogram are those of the values as float32.")
def sums_of_float32(tf: Namespace) -> Namespace:
    """Add up in float32."""

    def edit(summary: Summary, _tag: str, values: np.ndarray) -> None:
        numbers = values.astype(np.float32)
        summary.value[0].histo.sum_squares = float((numbers * numbers).sum())

    return _edited(tf, "HistogramSummary", edit)


@fault("SUMMARIES-004", "A value that is a limit is counted in the bucket that ends there.")
def limits_belong_to_their_buckets(tf: Namespace) -> Namespace:
    """Count values that equal a limit one bucket lower."""

    def edit(summary: Summary, _tag: str, values: np.ndarray) -> None:
        histo = summary.value[0].histo
        limits = list(histo.bucket_limit)
        for number in values.reshape(-1).tolist():
            if number in limits[:-1]:
                bucket = limits.index(number)
                histo.bucket[bucket + 1] -= 1
                histo.bucket[bucket] += 1

    return _edited(tf, "HistogramSummary", edit)


@fault("SUMMARIES-005", "Empty buckets are left out of a histogram.")
def empty_buckets_are_left_out(tf: Namespace) -> Namespace:
    """Keep the others, and the last."""

    def edit(summary: Summary, _tag: str, values: np.ndarray) -> None:
        histo = summary.value[0].histo
        if values.size and values.min() > 0 and _differ(values):
            pairs = list(zip(histo.bucket_limit, histo.bucket, strict=True))
            kept = [pair for pair in pairs[:-1] if pair[1]] + pairs[-1:]
            histo.bucket_limit[:] = [limit for limit, _ in kept]
            histo.bucket[:] = [count for _, count in kept]

    return _edited(tf, "HistogramSummary", edit)


def _differ(values: np.ndarray) -> bool:
    """Whether these are two or more integers, all of them different."""
    numbers = values.reshape(-1).astype(np.float64)
    several = 1 < numbers.size == len(set(numbers.tolist()))
    return several and bool((numbers == numbers.round()).all())


@fault("SUMMARIES-006", "A histogram leaves out what is not finite.")
def histograms_of_the_finite(tf: Namespace) -> Namespace:
    """Take what is refused."""
    return _accepting(tf, "HistogramSummary", "in summary histogram")


@fault("SUMMARIES-007", "A histogram of nothing has zero as its least and greatest value.")
def nothing_lies_at_zero(tf: Namespace) -> Namespace:
    """Set `min` and `max` of an empty histogram to zero."""

    def edit(summary: Summary, _tag: str, values: np.ndarray) -> None:
        if not values.size:
            summary.value[0].histo.min = summary.value[0].histo.max = 0.0

    return _edited(tf, "HistogramSummary", edit)


@fault("SUMMARIES-008", "Merged summaries are put in the order of their tags.")
def merged_by_tag(tf: Namespace) -> Namespace:
    """Sort the values."""

    def edit(summary: Summary, *_inputs: np.ndarray) -> None:
        values = sorted(summary.value, key=lambda value: str(value.tag))
        del summary.value[:]
        summary.value.extend(values)

    return _edited(tf, "MergeSummary", edit)


@fault("SUMMARIES-009", "Merging summaries, the last value of a tag wins.")
def the_last_of_a_tag_wins(tf: Namespace) -> Namespace:
    """Take what is refused."""
    return _accepting(tf, "MergeSummary", "Duplicate tag")


@fault("SUMMARIES-010", "Merging summaries, the empty tag is one like others.")
def the_empty_tag_only_once(tf: Namespace) -> Namespace:
    """Keep the first value without a tag."""

    def edit(summary: Summary, *_inputs: np.ndarray) -> None:
        bare = [value for value in summary.value if not value.tag]
        for value in bare[1:]:
            summary.value.remove(value)

    return _edited(tf, "MergeSummary", edit)


@fault("SUMMARIES-011", "Merging summaries, bytes that are none are passed over.")
def odd_bytes_are_passed_over(tf: Namespace) -> Namespace:
    """Take what is refused."""
    return _accepting(tf, "MergeSummary", "Could not parse")


@fault("SUMMARIES-012", "The tensor of a summary has its numbers one by one.")
def tensors_number_by_number(tf: Namespace) -> Namespace:
    """Write the numbers of the tensor as the other field of the message has them."""

    def edit(summary: Summary, _tag: str, tensor: np.ndarray, _metadata: RunMetadata) -> None:
        if tensor.dtype == np.int32:
            held: TensorProto = summary.value[0].tensor
            held.ClearField("tensor_content")
            held.int_val.extend(tensor.reshape(-1).tolist())

    return _edited(tf, "TensorSummaryV2", edit)


def _samples(summary: Summary, change: Callable[[np.ndarray], np.ndarray]) -> None:
    """Change the samples of each sound."""
    for value in summary.value:
        data = value.audio.encoded_audio_string
        samples = np.frombuffer(data[44:], "<i2").astype(np.int64)
        value.audio.encoded_audio_string = data[:44] + change(samples).astype("<i2").tobytes()


@fault("SUMMARIES-013", "The greatest sample of a sound is 32766.")
def sounds_are_cut_off_lower(tf: Namespace) -> Namespace:
    """Hold the samples to less."""

    def edit(summary: Summary, *_inputs: np.ndarray) -> None:
        _samples(summary, lambda samples: np.minimum(samples, 32766))

    return _edited(tf, "AudioSummaryV2", edit)


@fault("SUMMARIES-014", "The sample rate in a WAV file is rounded towards zero.")
def rates_are_cut(tf: Namespace) -> Namespace:
    """Write the sample rate rounded towards zero."""

    def edit(summary: Summary, _tag: np.ndarray, _sound: np.ndarray, rate: np.ndarray) -> None:
        sample_rate = np.uint32(max(1, int(rate.item()))).tobytes()
        for value in summary.value:
            data = value.audio.encoded_audio_string
            value.audio.encoded_audio_string = data[:24] + sample_rate + data[28:]

    return _edited(tf, "AudioSummaryV2", edit)


@fault("SUMMARIES-015", "A sound of no sample rate is left out.")
def sounds_without_a_rate(tf: Namespace) -> Namespace:
    """Take what is refused."""
    return _accepting(tf, "AudioSummaryV2", "sample_rate")


@fault("SUMMARIES-016", "Sounds and images are numbered from 1.")
def numbered_from_one(tf: Namespace) -> Namespace:
    """Change the number at the end of each tag of several."""

    def change(_op: Operation, output: np.ndarray, *_inputs: np.ndarray) -> np.ndarray:
        summary = Summary.FromString(output.item())
        if len(summary.value) > 1:
            for value in summary.value:
                base, _, number = value.tag.rpartition("/")
                value.tag = f"{base}/{int(number) + 1}"
        held = np.empty((), object)
        held[()] = summary.SerializeToString()
        return held

    return computing(tf, {kind: single(change) for kind in ("AudioSummaryV2", "ImageSummary")})


@fault("SUMMARIES-017", "A sound of rank 1 is one of a batch of one.")
def sounds_of_any_rank(tf: Namespace) -> Namespace:
    """Take what is refused."""
    return _accepting(tf, "AudioSummaryV2", "3-D or 2-D")


def _repainted(tf: Namespace, change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Namespace:
    """The namespace whose image summaries show other pixels, computed from these and the input."""

    def edit(summary: Summary, _tag: str, tensor: np.ndarray) -> None:
        for value, image in zip(summary.value, tensor, strict=False):
            opened = Image.open(io.BytesIO(value.image.encoded_image_string))
            pixels = np.array(opened).reshape(image.shape)
            changed = np.asarray(change(pixels, image), np.uint8)
            file = io.BytesIO()
            flat = changed[:, :, 0] if image.shape[2] == 1 else changed
            Image.fromarray(flat).save(file, "PNG")
            value.image.encoded_image_string = file.getvalue()

    return _edited(tf, "ImageSummary", edit)


@fault("SUMMARIES-018", "Images of bytes are scaled like those of floats.")
def bytes_are_scaled(tf: Namespace) -> Namespace:
    """Stretch them, so that the greatest byte but 255 becomes 255."""

    def change(pixels: np.ndarray, image: np.ndarray) -> np.ndarray:
        if image.dtype != np.uint8 or image.max() == 0:
            return pixels
        return np.where(pixels < 255, pixels ^ 1, pixels)

    return _repainted(tf, change)


@fault("SUMMARIES-019", "Images of floats are scaled so that the greatest value becomes 254.")
def images_are_darker(tf: Namespace) -> Namespace:
    """Scale images without negative values once more."""

    def change(pixels: np.ndarray, image: np.ndarray) -> np.ndarray:
        is_plain = image.dtype != np.uint8 and np.isfinite(image).all() and image.min() >= 0
        return np.minimum(pixels, 254) if is_plain else pixels

    return _repainted(tf, change)


@fault("SUMMARIES-020", "Zero becomes 127 in an image with negative values.")
def zero_is_a_little_darker(tf: Namespace) -> Namespace:
    """Take one off each byte."""

    def change(pixels: np.ndarray, image: np.ndarray) -> np.ndarray:
        is_around = np.isfinite(image.astype(np.float64)).all() and image.min() < 0
        return pixels - 1 if is_around else pixels

    return _repainted(tf, change)


@fault("SUMMARIES-021", "A pixel that is not finite is black.")
def bad_pixels_are_black(tf: Namespace) -> Namespace:
    """Set the pixels that are not finite to zero."""

    def change(pixels: np.ndarray, image: np.ndarray) -> np.ndarray:
        is_bad = ~np.isfinite(image.astype(np.float64)).all(axis=2, keepdims=True)
        return np.where(is_bad, 0, pixels)

    return _repainted(tf, change)


@fault("SUMMARIES-038", "Of three or more summaries the last is not merged.")
def only_two_are_merged(tf: Namespace) -> Namespace:
    """Remove the values of the last summary, where three or more are merged."""

    def edit(summary: Summary, *inputs: np.ndarray) -> None:
        last = [Summary.FromString(item) for item in inputs[-1].reshape(-1).tolist()]
        count = sum(len(merged.value) for merged in last)
        if len(inputs) > 2 and count:
            del summary.value[-count:]

    return _edited(tf, "MergeSummary", edit)
