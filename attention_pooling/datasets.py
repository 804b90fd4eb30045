"""The two data sets of the chapter: a noisy known function, and a real experiment."""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

__all__ = ["Motorcycle", "SineData", "motorcycle", "sine_data", "sine_truth"]


@dataclass(frozen=True)
class SineData:
    """Noisy samples of a known function, and where to judge an estimate of it.

    Attributes
    ----------
    keys : ndarray of float, shape (n,)
        Sorted sample positions in [0, 5], without unit.
    values : ndarray of float, shape (n,)
        Noisy samples of the function at the keys.
    queries : ndarray of float, shape (50,)
        0, 0.1, ..., 4.9.
    truth : ndarray of float, shape (50,)
        The function at the queries, without noise.

    Examples
    --------
    >>> sine_data(n=3).keys.shape
    (3,)
    """

    keys: np.ndarray
    values: np.ndarray
    queries: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class Motorcycle:
    """Acceleration of a head after a simulated motorcycle crash.

    Attributes
    ----------
    keys : ndarray of float, shape (133,)
        Time after impact in milliseconds; sorted, with repetitions.
    values : ndarray of float, shape (133,)
        Acceleration in g (1 g = 9.81 m/s**2).
    key_label, key_unit, value_label, value_unit : str
        Words for the axes: quantity and unit of each.

    Examples
    --------
    >>> motorcycle().value_unit
    'g'
    """

    keys: np.ndarray
    values: np.ndarray
    key_label: str = "time after impact"
    key_unit: str = "ms"
    value_label: str = "head acceleration"
    value_unit: str = "g"


def sine_truth(x):
    """Return 2 sin x + x, the function behind `sine_data`.

    Parameters
    ----------
    x : array_like of float
        Positions, in radians.

    Returns
    -------
    ndarray or float
        The function in the shape of `x`.

    Examples
    --------
    >>> float(sine_truth(0.0))
    0.0
    """
    x = np.asarray(x, dtype=np.float64)
    return 2 * np.sin(x) + x


def sine_data(n=40, noise=1.0, seed=0):
    """Return noisy samples of 2 sin x + x at random positions.

    Parameters
    ----------
    n : int, default 40
        Number of samples, at least 1.
    noise : float, default 1.0
        Standard deviation of the noise, at least 0.
    seed : int or None or numpy.random.Generator, default 0
        Source of the random numbers, as for `numpy.random.default_rng`.

    Returns
    -------
    SineData
        Arrays ``keys``, ``values``, ``queries`` and ``truth``.

    Raises
    ------
    ValueError
        If `n` is not a whole number of at least 1, or `noise` is negative or not finite.

    Notes
    -----
    :math:`y = 2 \\sin x + x + \\varepsilon` with x uniform on [0, 5], sorted, and
    :math:`\\varepsilon` normal with mean 0. The positions are drawn before the noise.
    Chapter 1 introduces the data.

    Examples
    --------
    >>> sine_data(seed=0).queries[:3].tolist()
    [0.0, 0.1, 0.2]
    """
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
    if not (np.ndim(noise) == 0 and np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise must be a finite number of at least 0, got {noise!r}")
    rng = np.random.default_rng(seed)
    keys = np.sort(rng.uniform(0, 5, n))
    values = sine_truth(keys) + rng.normal(0, noise, n)
    queries = np.arange(50) / 10
    return SineData(keys, values, queries, sine_truth(queries))


def motorcycle():
    """Return the 133 measurements of a simulated motorcycle crash.

    Returns
    -------
    Motorcycle
        Arrays ``keys`` (ms) and ``values`` (g), and words for the axes.

    Notes
    -----
    Helmet tests at Heidelberg [1]_, published in [2]_; the ``mcycle`` data of the R package
    MASS. The file ``data/motorcycle.csv`` states units and source.

    References
    ----------
    .. [1] G. Schmidt, R. Mattern and F. Schueler, EEC Research Program on Biomechanics of
       Impacts, Final Report Phase III, Project G5, Heidelberg, 1981.
    .. [2] B. W. Silverman, "Some aspects of the spline smoothing approach to non-parametric
       regression curve fitting", J. R. Stat. Soc. B 47, 1985.

    Examples
    --------
    >>> data = motorcycle()
    >>> data.keys.shape, float(data.values.min())
    ((133,), -134.0)
    """
    path = files("attention_pooling").joinpath("data/motorcycle.csv")
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if line and line[0] in "0123456789"]
    time, acceleration = np.array(rows, dtype=np.float64).T.copy()
    return Motorcycle(time, acceleration)
