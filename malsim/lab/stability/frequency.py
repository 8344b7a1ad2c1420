"""Frequency-domain analysis of the loop: gain and phase margins, open-loop response, and stabilising damping.

Near a fixed point a mode of eigenvalue λ of the undamped tick has the open loop L(z) = −α λ / (z − 1 + α), where α is the
damping; it is closed by 1 + L(z) = 0. Source: characteristic loci of a multivariable loop (MacFarlane and Postlethwaite,
1977).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy import sparse
from scipy.sparse.linalg import eigs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.stability.loop import Array

DENSE, MOST = 1_500, 8
POINTS, LOWEST = 400, 1e-2
ZERO = 1e-12


def eigenvalues(jacobian: sparse.csr_array) -> NDArray[np.complex128]:
    """Return the eigenvalues of the Jacobian ∂f/∂e that determine the gain and phase margins.

    All eigenvalues of each strongly connected part are returned; of a part with more than 1,500 rows only the eight
    farthest from 1, by Arnoldi's method.
    """
    _, label = sparse.csgraph.connected_components(jacobian, connection="strong")
    sizes = np.bincount(label)
    diagonal = jacobian.diagonal()
    parts = [diagonal[sizes[label] == 1].astype(np.complex128)]
    for part in np.flatnonzero(sizes > 1):
        rows = np.flatnonzero(label == part)
        block = sparse.csr_array(jacobian[rows][:, rows])
        if len(rows) <= DENSE:
            parts.append(np.linalg.eigvals(block.toarray()).astype(np.complex128))
        else:
            away = sparse.csr_array(sparse.eye_array(len(rows)) - block)
            begin = np.random.Generator(np.random.Philox(key=0)).random(len(rows))
            parts.append(1.0 - eigs(away, k=MOST, which="LM", v0=begin, tol=1e-4, return_eigenvectors=False))
    values: NDArray[np.complex128] = np.concatenate(parts)
    return values[np.abs(values) > ZERO]


def damping_bound(values: NDArray[np.complex128]) -> float:
    """Return the damping α below which every mode decays: |1 − α + α λ| < 1, so α < 2 (1 − Re λ) / |1 − λ|².

    The bound is 0 if an eigenvalue has a real part of 1 or more, which no damping cures, and 2 / (1 + L) for a real λ = −L.

    >>> damping_bound(np.array([-3.0 + 0j])), round(damping_bound(np.array([1.5j, -1.5j])), 4)
    (0.5, 0.6154)
    """
    away = 1.0 - values
    return float(np.maximum(2.0 * away.real / np.abs(away) ** 2, 0.0).min(initial=2.0))


def gain_margin(values: NDArray[np.complex128], damping: float) -> float | None:
    """Return the factor by which all slopes can grow before some mode stops decaying; None if there is no limit.

    The factor is the smallest k > 0 with |1 − α + α k λ| = 1. If k < 1, the slopes must shrink by the factor k.

    >>> gain_margin(np.array([-0.5 + 0j]), 1.0)
    2.0
    """
    rest, size = 1.0 - damping, (damping * np.abs(values)) ** 2
    middle = rest * damping * values.real
    factors = (np.sqrt(middle**2 + size * (1.0 - rest**2)) - middle) / np.where(size > 0.0, size, np.inf)
    factors = factors[size > 0.0]
    return float(factors.min()) if factors.size else None


def phase_margin(values: NDArray[np.complex128], damping: float) -> float | None:
    """Return the smallest phase shift, in degrees, at which some mode stops decaying; None if |L| never exceeds 1.

    The shift is the angle between L and −1 at the frequency where |L| = 1, cos ω = (1 + (1 − α)² − α² |λ|²) / (2 (1 − α)).
    It is negative if the mode grows.

    >>> round(phase_margin(np.array([-1.5 + 0j]), 0.5), 2)
    104.48
    """
    rest, size = 1.0 - damping, damping * np.abs(values)
    if rest <= 0.0:
        return None
    cosine = (1.0 + rest**2 - size**2) / (2.0 * rest)
    crossing = np.abs(cosine) <= 1.0
    if not crossing.any():
        return None
    turn = np.arccos(cosine[crossing])
    mode = values[crossing]
    angles = [np.degrees(np.abs(np.angle(damping * mode / (np.exp(1j * side * turn) - rest)))) for side in (1.0, -1.0)]
    nearest = np.minimum(*angles)
    grows = np.abs(rest + damping * mode) > 1.0
    return float(np.where(grows, -nearest, nearest).min())


def response(value: complex, damping: float, *, points: int = POINTS) -> pl.DataFrame:
    """Return a mode's open-loop frequency response: omega (rad/tick, up to π), real, imaginary, decibels, degrees."""
    omega: Array = np.geomspace(LOWEST, np.pi, points)
    loop = -damping * value / (np.exp(1j * omega) - 1.0 + damping)
    decibels, degrees = 20.0 * np.log10(np.abs(loop)), np.degrees(np.unwrap(np.angle(loop)))
    columns = {"omega": omega, "real": loop.real, "imaginary": loop.imag, "decibels": decibels, "degrees": degrees}
    return pl.DataFrame(columns)
