"""Filter a signal with a biquad (two poles, two zeros): low-pass, notch, or given coefficients.

    out = n0 in + s1;  s1 = n1 in − d1 out + s2;  s2 = n2 in − d2 out

Type 1 is a low-pass at f0, type 2 a notch, and type 0 takes n0 … d2 as given. Coefficients are computed on the rising edge
of `enable`. A frequency above half a cycle per tick, or a Q outside 0.5 … 2, is invalid. If `enable` or `valid` is false,
out = in. Source: R. Bristow-Johnson, Cookbook formulae for audio equalizer biquad filter coefficients; LinuxCNC biquad.

>>> import ops
>>> notch = ops.start(ops.load("biquad"), settings={"enable": True, "type": 2, "f0": "0.1/d", "in": 1.0})
>>> ops.step(ops.load("biquad"), notch, tick=1.0)["out"].round(3).tolist()
[0.706]
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Tick

in_ = In("1", "signal to filter", nan="sticks")
enable = In("bit", "filter the signal; a rising edge computes the coefficients")
type_ = In("1", "0 for given coefficients, 1 for a low-pass, 2 for a notch", start=0)
f0 = In("1/d", "corner or notch frequency", start=250.0, nan="compares false")
Q = In("1", "quality factor", start=0.7071, nan="compares false")
out = Out("1", "filtered value")
valid = Out("bit", "the settings are valid")
s1 = Out("1", "first delay element")
s2 = Out("1", "second delay element")
b0 = Out("1", "current coefficient", start=1.0)
b1 = Out("1", "current coefficient")
b2 = Out("1", "current coefficient")
a1 = Out("1", "current coefficient")
a2 = Out("1", "current coefficient")
enabled = Out("bit", "enable at the previous call")
n0 = Param(1.0, "1", "coefficient of in, for type 0")
n1 = Param(0.0, "1", "coefficient of in one call ago, for type 0")
n2 = Param(0.0, "1", "coefficient of in two calls ago, for type 0")
d1 = Param(0.0, "1", "coefficient of out one call ago, for type 0")
d2 = Param(0.0, "1", "coefficient of out two calls ago, for type 0")
tick = Tick("d")

LOWEST, HIGHEST = 0.5, 2.0  # allowed range of Q


def function(
    in_: Array, enable: Array, type_: Array, f0: Array, Q: Array, valid: Array, s1: Array, s2: Array, b0: Array,
    b1: Array, b2: Array, a1: Array, a2: Array, enabled: Array, *, n0: Array, n1: Array, n2: Array, d1: Array,
    d2: Array, tick: float,
) -> dict[str, Array]:  # fmt: skip
    rises, given = enable & ~enabled, type_ == 0
    good = np.isin(type_, (1, 2)) & (f0 <= 0.5 / tick) & (Q >= LOWEST) & (Q <= HIGHEST)
    valid = np.where(rises, given | good, valid)
    given, computed = rises & given, rises & good
    designed = _coefficients(np.where(good, f0, 0.0) * tick, np.where(good, Q, 1.0), type_ == 1)
    given_values, before = (n0, n1, n2, d1, d2), (b0, b1, b2, a1, a2)
    now = [np.where(given, g, np.where(computed, w, b)) for g, w, b in zip(given_values, designed, before, strict=True)]
    first, second = np.where(computed, 0.0, s1), np.where(computed, 0.0, s2)
    on = enable & valid
    out = np.where(on, in_ * now[0] + first, in_)
    return {
        "out": out,
        "valid": valid,
        "s1": np.where(on, in_ * now[1] - out * now[3] + second, first),
        "s2": np.where(on, in_ * now[2] - out * now[4], second),
        **dict(zip(("b0", "b1", "b2", "a1", "a2"), now, strict=True)),
        "enabled": enable,
    }


def _coefficients(cycles: Array, Q: Array, low: Array) -> tuple[Array, ...]:
    """Return the coefficients n0, n1, n2, d1 and d2 for a frequency in cycles per tick."""
    angle = 2.0 * np.pi * cycles
    cosine, alpha = np.cos(angle), np.sin(angle) / (2.0 * Q)
    outer = np.where(low, (1.0 - cosine) / 2.0, 1.0)
    middle = np.where(low, 1.0 - cosine, -2.0 * cosine)
    whole = 1.0 + alpha
    return outer / whole, middle / whole, outer / whole, -2.0 * cosine / whole, (1.0 - alpha) / whole
