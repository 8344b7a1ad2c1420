"""Count the values of a signal in bins of equal width, and compute the mean and variance.

    bin-⌊(in − minvalue) / binsize⌋ += 1;  outside: nextra below, pextra above;  binvalue = bin-index, or −1

A reset, the first call, and a change of nbins, binsize or minvalue clear everything. The value in that call counts only in
nsamples, input-min and input-max; mean and variance start with the next value. If method is false, Welford's recurrence is
used, else sums of squares. If nbins is not between 1 and the loaded number of bins, input-error is true and nothing else
changes. A value equal to the upper end is in no bin. Source: B. P. Welford, Technometrics 4 (1962); LinuxCNC histobins.

>>> import ops
>>> sheet = ops.load("histogram", bins=4)
>>> end, _ = ops.run(sheet, ops.start(sheet, settings={"nbins": 4}), {"in": np.array([[0.5], [1.5], [1.6], [9.0]])})
>>> end["bin_"].ravel().tolist(), end["pextra"].tolist(), end["mean"].round(3).tolist()
([0, 2, 0, 0], [1.0], [3.025])
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size

bins = Size(20, "maximum number of bins", high=200)
in_ = In("1", "signal to count", nan="sticks")
index = In("1", "index of the bin that binvalue shows", start=0)
reset = In("bit", "clear everything")
method = In("bit", "compute mean and variance from sums of squares")
binvalue = Out("1", "number of values in the selected bin")
check = Out("1", "index as read", start=0)
pextra = Out("1", "number of values above the last bin")
nextra = Out("1", "number of values below the first bin")
input_min = Out("1", "lowest value")
input_max = Out("1", "highest value")
nsamples = Out("1", "number of values", start=0)
variance = Out("1", "sample variance (divisor n − 1)")
mean = Out("1", "mean of the values")
input_error = Out("bit", "nbins is out of range")
bin_ = Out("1", "number of values in each bin", start=0, many="bins")
m2 = Out("1", "sum of squared deviations from the mean")
total = Out("1", "sum of the values")
squares = Out("1", "sum of the squared values")
last_nbins = Out("1", "nbins at the previous call", start=0)
last_binsize = Out("1", "binsize at the previous call")
last_minvalue = Out("1", "minvalue at the previous call")
nbins = Param(20, "1", "number of bins in use")
binsize = Param(1.0, "1", "width of a bin", low=1e-300)
minvalue = Param(0.0, "1", "lower end of the first bin")


def function(
    in_: Array, index: Array, reset: Array, method: Array, binvalue: Array, pextra: Array, nextra: Array,
    input_min: Array, input_max: Array, nsamples: Array, variance: Array, mean: Array, bin_: Array, m2: Array,
    total: Array, squares: Array, last_nbins: Array, last_binsize: Array, last_minvalue: Array, *, nbins: Array,
    binsize: Array, minvalue: Array,
) -> dict[str, Array]:  # fmt: skip
    nbins, binsize, minvalue = (np.broadcast_to(nbin, in_.shape) for nbin in (nbins, binsize, minvalue))
    wrong = (nbins < 1) | (nbins > len(bin_))
    clears = reset | (nbins != last_nbins) | (binsize != last_binsize) | (minvalue != last_minvalue)
    counts, above, below = _counts(bin_, in_, nbins, binsize, minvalue, clears)
    number = np.clip(index, 0, len(bin_) - 1)[np.newaxis]
    bin_value = np.where((index >= 0) & (index < nbins), np.take_along_axis(counts, number, axis=0)[0], -1.0)
    count, moments = _moments(in_, nsamples, mean, m2, total, squares, variance, clears, method)
    fresh = {
        "bin_": counts, "pextra": np.where(clears, 0.0, pextra) + above, "nextra": np.where(clears, 0.0, nextra) + below,
        "binvalue": bin_value, "nsamples": count, **moments,
        "input_min": np.fmin(np.where(clears, 1e99, input_min), in_),
        "input_max": np.fmax(np.where(clears, -1e99, input_max), in_),
        "last_nbins": nbins, "last_binsize": binsize, "last_minvalue": minvalue,
    }  # fmt: skip
    last = {
        "bin_": bin_, "pextra": pextra, "nextra": nextra, "binvalue": binvalue, "nsamples": nsamples, "variance": variance,
        "mean": mean, "m2": m2, "total": total, "squares": squares, "input_min": input_min, "input_max": input_max,
        "last_nbins": last_nbins, "last_binsize": last_binsize, "last_minvalue": last_minvalue,
    }  # fmt: skip
    return {key: np.where(wrong, last[key], fresh[key]) for key in last} | {"check": index, "input_error": wrong}


def _counts(
    bin_: Array, in_: Array, nbins: Array, binsize: Array, minvalue: Array, clears: Array
) -> tuple[Array, Array, Array]:
    """Return the bin counts including the current value, and whether that value is above or below all bins."""
    above, below = in_ > minvalue + nbins * binsize, in_ < minvalue
    position = np.floor((in_ - minvalue) / binsize)
    here = (np.arange(len(bin_))[:, np.newaxis] == position) & (np.arange(len(bin_))[:, np.newaxis] < nbins)
    counts = np.where(clears, 0, bin_ + (here & ~above & ~below))
    return counts, above & ~clears, below & ~clears


def _moments(
    in_: Array, nsamples: Array, mean: Array, m2: Array, total: Array, squares: Array, variance: Array, clears: Array,
    method: Array,
) -> tuple[Array, dict[str, Array]]:  # fmt: skip
    """Return the count, mean and variance of all values including the current value."""
    count = np.where(clears, 1, nsamples + 1)
    mean, m2, total, squares = (np.where(clears, 0.0, square) for square in (mean, m2, total, squares))
    variance, more = np.where(clears, 0.0, variance), count > 1
    delta, fewer = in_ - mean, np.maximum(count - 1, 1)
    average = mean + delta / count
    spread = m2 + delta * (in_ - average)
    sum_, sum_of_squares = total + in_, squares + in_ * in_
    by_sums = (sum_of_squares - (sum_ * sum_) / count) / fewer
    welford, sums = more & ~method, more & method
    return count, {
        "mean": np.where(welford, average, np.where(sums, sum_ / count, mean)),
        "m2": np.where(welford, spread, m2),
        "total": np.where(sums, sum_, total),
        "squares": np.where(sums, sum_of_squares, squares),
        "variance": np.where(welford, spread / fewer, np.where(sums, by_sums, variance)),
    }
