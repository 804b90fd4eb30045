"""Kernels: how similar a query and a key are, given their scaled distance.

A kernel is a profile K(u) of the scaled distance u = |q - k| / sigma.
All profiles here have K >= 0, are largest at u = 0 and depend on nothing but u.
`KERNELS` holds what the rest of the package needs to know about each of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, pi, sqrt

import numpy as np

__all__ = ["KERNELS", "Kernel", "boxcar", "constant", "epanechnikov", "gaussian", "triangular"]


def gaussian(u):
    """Return the Gaussian profile exp(-u**2 / 2).

    Parameters
    ----------
    u : array_like of float
        Scaled distance, without unit. Only its absolute value matters.

    Returns
    -------
    ndarray or float
        K(u), in the shape of `u`.

    Notes
    -----
    :math:`K(u) = e^{-u^2/2}`. Its score is :math:`\\log K = -u^2/2`: a softmax
    of negative squared distances. Chapter 1 compares the five kernels.

    Examples
    --------
    >>> float(gaussian(0.0))
    1.0
    """
    u = _as_floating(u)
    return np.exp(-0.5 * (u * u))


def boxcar(u):
    """Return the boxcar profile: 1 within distance 1, else 0.

    Parameters
    ----------
    u : array_like of float
        Scaled distance, without unit. Only its absolute value matters.

    Returns
    -------
    ndarray or float
        K(u), in the shape of `u`.

    Notes
    -----
    :math:`K(u) = 1` for :math:`|u| \\le 1`, else 0: average pooling under a mask.
    The edge belongs to the window; a decimal key is rarely *exactly* on it.
    Chapter 1 compares the five kernels.

    Examples
    --------
    >>> boxcar([0.5, 1.0, 1.5]).tolist()
    [1.0, 1.0, 0.0]
    """
    u = _as_floating(u)
    return (np.abs(u) <= 1).astype(u.dtype)[()]


def triangular(u):
    """Return the triangular profile max(0, 1 - u).

    Parameters
    ----------
    u : array_like of float
        Scaled distance, without unit. Only its absolute value matters.

    Returns
    -------
    ndarray or float
        K(u), in the shape of `u`.

    Notes
    -----
    :math:`K(u) = \\max(0, 1 - |u|)`. The book *Dive into Deep Learning* draws this
    profile under a misspelt "Epanechnikov". Chapter 1 compares the five kernels.

    Examples
    --------
    >>> triangular([0.0, 0.5, 2.0]).tolist()
    [1.0, 0.5, 0.0]
    """
    u = _as_floating(u)
    return np.maximum(0, 1 - np.abs(u))


def epanechnikov(u):
    """Return the Epanechnikov profile 3/4 max(0, 1 - u**2).

    Parameters
    ----------
    u : array_like of float
        Scaled distance, without unit. Only its absolute value matters.

    Returns
    -------
    ndarray or float
        K(u), in the shape of `u`.

    Notes
    -----
    :math:`K(u) = \\tfrac34 \\max(0, 1 - u^2)` [1]_. The factor 3/4 makes it a density
    and cancels in every estimate. Chapter 1 compares the five kernels.

    References
    ----------
    .. [1] V. A. Epanechnikov, "Non-parametric estimation of a multivariate
       probability density", Theory of Probability & Its Applications 14, 1969.

    Examples
    --------
    >>> epanechnikov([0.0, 0.5, 1.0]).tolist()
    [0.75, 0.5625, 0.0]
    """
    u = _as_floating(u)
    return 0.75 * np.maximum(0, 1 - u * u)


def constant(u):
    """Return the constant profile: 1 at every distance.

    Parameters
    ----------
    u : array_like of float
        Scaled distance, without unit.

    Returns
    -------
    ndarray or float
        1 in the shape of `u`.

    Notes
    -----
    Every key gets the same weight, so the estimate is the mean of the values.
    Chapter 2 shows it.

    Examples
    --------
    >>> constant([0.0, 7.0]).tolist()
    [1.0, 1.0]
    """
    return np.ones_like(_as_floating(u))[()]


def _as_floating(u):
    """Return `u` as an array of floats; float32 stays, all else becomes float64."""
    u = np.asarray(u)
    return u if u.dtype == np.float32 else u.astype(np.float64, copy=False)


def _gaussian_derivative(u):
    return -u * gaussian(u)


def _triangular_derivative(u):
    return np.where(u < 1, -1.0, 0.0)


def _epanechnikov_derivative(u):
    return np.where(u < 1, -1.5 * u, 0.0)


def _constant_derivative(u):
    return np.zeros_like(u)


@dataclass(frozen=True)
class Kernel:
    """What the package knows about a kernel.

    Attributes
    ----------
    name : str
        The word that selects it.
    profile : callable
        K(u) for arrays of scaled distances u >= 0.
    support : float
        K is zero beyond this scaled distance; infinite for Gaussian and constant.
    standard_deviation : float or None
        Standard deviation of the normalised kernel over one feature, in units of
        the bandwidth; None where there is none (constant).
    roughness : float or None
        Integral of the squared normalised kernel over one feature, in units of
        1 / bandwidth; None where there is none.
    formula : str
        K(u) for u >= 0 in LaTeX.
    derivative : callable or None
        K'(u) for arrays u >= 0; None where K jumps (boxcar) or is unknown.

    Examples
    --------
    >>> KERNELS["boxcar"].support
    1.0
    """

    name: str
    profile: Callable
    support: float
    standard_deviation: float | None
    roughness: float | None
    formula: str
    derivative: Callable | None


KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("gaussian", gaussian, inf, 1.0, 1 / (2 * sqrt(pi)),
               r"e^{-u^2/2}", _gaussian_derivative),
        Kernel("boxcar", boxcar, 1.0, 1 / sqrt(3), 1 / 2,
               r"\mathbf{1}[u \le 1]", None),
        Kernel("triangular", triangular, 1.0, 1 / sqrt(6), 2 / 3,
               r"\max(0,\, 1 - u)", _triangular_derivative),
        Kernel("epanechnikov", epanechnikov, 1.0, 1 / sqrt(5), 3 / 5,
               r"\tfrac{3}{4}\max(0,\, 1 - u^2)", _epanechnikov_derivative),
        Kernel("constant", constant, inf, None, None,
               r"1", _constant_derivative),
    )
}
