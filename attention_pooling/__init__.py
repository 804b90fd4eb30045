"""Nadaraya-Watson kernel regression read as attention.

The core needs NumPy only. Figures, explorer, checks and the distributed
estimator are modules of their own: ``from attention_pooling.explorer import explore``.
"""

from .bandwidth import (
    BandwidthChoice,
    BandwidthCurve,
    bandwidth_curve,
    bandwidth_gradient,
    leave_one_out_error,
    rule_of_thumb,
    select_bandwidth,
)
from .datasets import motorcycle, sine_data, sine_truth
from .kernels import KERNELS, boxcar, constant, epanechnikov, gaussian, triangular
from .pooling import (
    EmptyNeighbourhoodWarning,
    PartialPool,
    attention_weights,
    dot_product_weights,
    nadaraya_watson,
)

__all__ = [
    "KERNELS",
    "BandwidthChoice",
    "BandwidthCurve",
    "EmptyNeighbourhoodWarning",
    "PartialPool",
    "attention_weights",
    "bandwidth_curve",
    "bandwidth_gradient",
    "boxcar",
    "constant",
    "dot_product_weights",
    "epanechnikov",
    "gaussian",
    "leave_one_out_error",
    "motorcycle",
    "nadaraya_watson",
    "rule_of_thumb",
    "select_bandwidth",
    "sine_data",
    "sine_truth",
    "triangular",
]
