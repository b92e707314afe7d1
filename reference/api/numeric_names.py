"""The public names of linear algebra, signals, special functions and counting.

Part of the namespace's table of what is imported when first asked for, `namespace._LATER`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["NUMERIC_NAMES"]

#: By the module, the names that it has in its `EXPORTS`.
NUMERIC_NAMES: Final[Mapping[str, str]] = {
    "api.ops.clipping": (
        "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm "
        "linalg.global_norm"
    ),
    "api.ops.grids": "lin_space linspace meshgrid sequence_mask",
    "api.ops.linalg_ops": (
        "linalg.adjoint linalg.matrix_transpose linalg.tensordot linalg.transpose "
        "matrix_transpose tensordot"
    ),
    "api.ops.numerics": "add_check_numerics_ops assert_same_float_dtype broadcast_static_shape "
    "debugging.assert_all_finite debugging.assert_same_float_dtype verify_tensor_all_finite",
    "api.ops.counting_ops": (
        "argsort bincount edit_distance histogram_fixed_width histogram_fixed_width_bins "
        "math.bincount sort"
    ),
    "api.ops.decomposition_ops": (
        "linalg.eigh linalg.eigvalsh linalg.matrix_rank linalg.normalize linalg.pinv linalg.svd "
        "self_adjoint_eig self_adjoint_eigvals svd"
    ),
    "api.ops.einsum": "einsum linalg.einsum",
    "api.ops.matrix_exponentials": "linalg.expm",
    "api.ops.running_sums": (
        "math.cumulative_logsumexp math.polyval math.reciprocal_no_nan math.reduce_std "
        "math.reduce_variance math.unsorted_segment_mean math.unsorted_segment_sqrt_n "
        "unsorted_segment_mean unsorted_segment_sqrt_n"
    ),
    "api.ops.solving_ops": (
        "cholesky_solve linalg.cholesky_solve linalg.logdet linalg.lstsq linalg.matvec "
        "linalg.triangular_solve matrix_solve_ls matrix_triangular_solve"
    ),
    "api.ops.special_ops": (
        "lbeta math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e math.erfcinv "
        "math.erfinv math.lbeta math.ndtri math.special.bessel_i0 math.special.bessel_i0e "
        "math.special.bessel_i1 math.special.bessel_i1e math.special.bessel_j0 "
        "math.special.bessel_j1 math.special.bessel_k0 math.special.bessel_k0e "
        "math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_y0 "
        "math.special.bessel_y1 math.special.dawsn math.special.expint math.special.fresnel_cos "
        "math.special.fresnel_sin math.special.spence math.xdivy math.xlog1py"
    ),
    "api.ops.triangular_factors": "linalg.lu_matrix_inverse linalg.lu_reconstruct linalg.lu_solve",
    "api.ops.tridiagonal_ops": "linalg.tridiagonal_matmul linalg.tridiagonal_solve",
    "library.signals.cosines": "signal.dct signal.idct spectral.dct spectral.idct",
    "api.ops.fourier_ops": (
        "signal.fftshift signal.ifftshift signal.irfft signal.irfft2d signal.irfft3d signal.rfft "
        "signal.rfft2d signal.rfft3d spectral.irfft spectral.irfft2d spectral.irfft3d "
        "spectral.rfft spectral.rfft2d spectral.rfft3d"
    ),
    "library.signals.framing": "signal.frame signal.overlap_and_add",
    "library.signals.mel_scale": (
        "signal.linear_to_mel_weight_matrix signal.mfccs_from_log_mel_spectrograms"
    ),
    "library.signals.spectrograms": (
        "signal.inverse_mdct signal.inverse_stft signal.inverse_stft_window_fn signal.mdct "
        "signal.stft"
    ),
    "library.signals.windows": (
        "signal.hamming_window signal.hann_window signal.kaiser_bessel_derived_window "
        "signal.kaiser_window signal.vorbis_window"
    ),
}
