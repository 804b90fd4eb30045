"""The profiles and the records in KERNELS."""

from math import inf

import numpy as np
import pytest
from scipy.integrate import quad

from attention_pooling import KERNELS, boxcar, constant, epanechnikov, gaussian, triangular
from attention_pooling.bandwidth import _canonical_bandwidth

NAMES = ["gaussian", "boxcar", "triangular", "epanechnikov", "constant"]
DENSITIES = NAMES[:4]


def test_the_five_kernels_in_the_order_of_the_chapter():
    assert list(KERNELS) == NAMES
    assert [KERNELS[name].profile for name in NAMES] == [
        gaussian, boxcar, triangular, epanechnikov, constant,
    ]


def test_e8_profiles_at_known_points():
    assert epanechnikov([0, 0.5, 1]).tolist() == [0.75, 0.5625, 0]
    assert triangular(0.5) == 0.5 and boxcar(1) == 1 and boxcar(np.nextafter(1, 2)) == 0
    assert gaussian(2.0) == pytest.approx(np.exp(-2), rel=1e-15)
    assert constant([0.0, 1e300]).tolist() == [1, 1]


@pytest.mark.parametrize("name", NAMES)
def test_profiles_keep_shape_and_float32_and_take_integers(name):
    profile = KERNELS[name].profile
    assert profile(np.zeros((2, 3), dtype=np.float32)).dtype == np.float32
    assert profile(np.zeros((2, 3))).shape == (2, 3)
    assert profile([0, 1, 2]).dtype == np.float64 and np.ndim(profile(0.5)) == 0
    signed = np.linspace(-2, 2, 9)
    np.testing.assert_array_equal(profile(signed), profile(np.abs(signed)))


@pytest.mark.parametrize("name", NAMES)
def test_profiles_are_largest_at_zero_and_end_at_their_support(name):
    kernel = KERNELS[name]
    k = kernel.profile(np.linspace(0, 3, 301))
    assert (np.diff(k) <= 0).all() and k[0] > 0
    beyond = kernel.profile(np.nextafter(min(kernel.support, 30), inf))
    assert (beyond == 0) == (kernel.support == 1)


@pytest.mark.parametrize("name", DENSITIES)
def test_standard_deviation_and_roughness_agree_with_quadrature(name):
    kernel = KERNELS[name]
    end = min(kernel.support, 12)
    mass, second, squared = (
        2 * quad(f, 0, end)[0]
        for f in (
            kernel.profile,
            lambda u: u * u * kernel.profile(u),
            lambda u: kernel.profile(u) ** 2,
        )
    )
    assert kernel.standard_deviation == pytest.approx((second / mass) ** 0.5, rel=1e-9)
    assert kernel.roughness == pytest.approx(squared / mass**2, rel=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "triangular", "epanechnikov", "constant"])
def test_derivatives_agree_with_differences(name):
    kernel, h = KERNELS[name], 1e-6
    u = np.array([0.1, 0.35, 0.8, 0.99, 1.01, 2.5])
    slope = (kernel.profile(u + h) - kernel.profile(u - h)) / (2 * h)
    np.testing.assert_allclose(kernel.derivative(u), slope, atol=1e-9)


def test_the_boxcar_has_no_derivative_and_the_constant_no_spread():
    assert KERNELS["boxcar"].derivative is None
    assert KERNELS["constant"].standard_deviation is None
    assert KERNELS["constant"].roughness is None


def test_canonical_ratios_are_those_of_the_textbooks():
    base = _canonical_bandwidth(KERNELS["gaussian"])
    ratios = [round(_canonical_bandwidth(KERNELS[name]) / base, 3) for name in DENSITIES[1:]]
    assert ratios == [1.740, 2.432, 2.214]


def test_every_record_has_a_formula_in_u():
    for name in NAMES:
        formula = KERNELS[name].formula
        assert formula == "1" or "u" in formula
        assert KERNELS[name].name == name and formula.count("{") == formula.count("}")
