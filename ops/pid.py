"""Drive a value to a set point.

    error = previous command (or command) − feedback;  e = error, limited by maxerror, minus the deadband
    u = bias + P e + I Σ e T + D d(command − feedback)/dt + FF0 c + FF1 c′ + FF2 c″ + FF3 c‴, c the command
    output = u within ±maxoutput;  the sum holds while the output is limited and e would increase the excess

A limit of 0 means no limit. While `enable` is false, output and sum are 0 and the derivatives continue. Before the
first call all values are 0, so a derivative gain causes a kick. On the falling edge of index-enable, the derivatives
hold and the error uses the current command. Wired derivatives are used unchanged. To find gains, use `autotune`. The
names are HAL's. Source: LinuxCNC pid.

>>> import ops
>>> sheet = ops.load("pid")
>>> state = ops.start(sheet, settings={"Pgain": 2.0, "enable": True, "command": 1.5, "error-previous-target": False})
>>> ops.step(sheet, state, tick=1.0)["output"].tolist()
[3.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Tick

command = In("1", "set point", nan="lingers")
feedback = In("1", "measured value", nan="lingers")
enable = In("bit", "run; otherwise output 0")
index_enable = In("bit", "a falling edge announces a jump of feedback")
Pgain = In("1", "proportional gain", start=1.0, nan="passes")
Igain = In("1/d", "integral gain", nan="passes")
Dgain = In("1·d", "derivative gain", nan="passes")
FF0 = In("1", "feed-forward of command", nan="passes")
FF1 = In("1·d", "feed-forward of the rate of the command", nan="passes")
FF2 = In("1·d²", "feed-forward of the acceleration of the command", nan="passes")
FF3 = In("1·d³", "feed-forward of the jerk of the command", nan="passes")
bias = In("1", "value added to the output", nan="passes")
deadband = In("1", "errors up to this size count as 0; larger errors are reduced by it", low=0.0, nan="compares false")
maxerror = In("1", "limit of the error", low=0.0, nan="compares false")
maxerrorI = In("1·d", "limit of the sum", low=0.0, nan="sticks")
maxerrorD = In("1/d", "limit of the rate of the error", low=0.0, nan="passes")
maxcmdD = In("1/d", "limit of the rate of the command", low=0.0, nan="lingers")
maxcmdDD = In("1/d²", "limit of the acceleration of the command", low=0.0, nan="lingers")
maxcmdDDD = In("1/d³", "limit of the jerk of the command", low=0.0, nan="passes")
maxoutput = In("1", "limit of the output", low=0.0, nan="passes")
command_deriv = In("1/d", "rate of the command; NaN to compute it", start=np.nan, nan="compares false")
feedback_deriv = In("1/d", "rate of the feedback; NaN to compute it", start=np.nan, nan="compares false")
error_previous_target = In("bit", "compute the error from the command of the previous call", start=True)
output = Out("1", "input to the plant")
error = Out("1", "command − feedback, before limits and deadband")
errorI = Out("1·d", "sum of the error")
errorD = Out("1/d", "rate of the error")
commandD = Out("1/d", "rate of the command")
commandDD = Out("1/d²", "acceleration of the command")
commandDDD = Out("1/d³", "jerk of the command")
saturated = Out("bit", "the output is limited")
saturated_s = Out("d", "time for which the output has been limited")
saturated_count = Out("calls", "calls for which the output has been limited", start=0)
limit_state = Out("1", "1 limited above, -1 limited below, 0 not limited", start=0.0)
command_before = Out("1", "command at the previous call")
feedback_before = Out("1", "feedback at the previous call")
command_rate = Out("1/d", "rate of the command before its limit")
feedback_rate = Out("1/d", "rate of the feedback")
index_before = Out("bit", "index-enable at the previous call")
tick = Tick("d")


def function(
    command: Array, feedback: Array, enable: Array, index_enable: Array, Pgain: Array, Igain: Array, Dgain: Array,
    FF0: Array, FF1: Array, FF2: Array, FF3: Array, bias: Array, deadband: Array, maxerror: Array, maxerrorI: Array,
    maxerrorD: Array, maxcmdD: Array, maxcmdDD: Array, maxcmdDDD: Array, maxoutput: Array,
    command_deriv: Array, feedback_deriv: Array, error_previous_target: Array, errorI: Array, commandD: Array,
    commandDD: Array, saturated_s: Array, saturated_count: Array, limit_state: Array, command_before: Array,
    feedback_before: Array, command_rate: Array, feedback_rate: Array, index_before: Array, *, tick: float,
) -> dict[str, Array]:  # fmt: skip
    per_time = 1.0 / tick
    fell = index_before & ~index_enable
    error = np.where(error_previous_target & ~fell, command_before, command) - feedback
    e = _beyond(_bounded(error, maxerror), deadband)
    total = errorI + np.where(e * limit_state <= 0.0, e * tick, 0.0)
    total = np.where(enable, _bounded(total, maxerrorI), 0.0)

    command_rate = _rate(command_deriv, np.where(fell, command_rate, (command - command_before) * per_time))
    feedback_rate = _rate(feedback_deriv, np.where(fell, feedback_rate, (feedback - feedback_before) * per_time))
    rate = _bounded(command_rate - feedback_rate, maxerrorD)
    velocity = _bounded(command_rate, maxcmdD)
    acceleration = _bounded((velocity - commandD) * per_time, maxcmdDD)
    jerk = _bounded((acceleration - commandDD) * per_time, maxcmdDDD)

    u = bias + Pgain * e + Igain * total + Dgain * rate
    u = u + (command * FF0 + velocity * FF1 + acceleration * FF2 + jerk * FF3)
    state = np.where(enable, _side(u, maxoutput, limit_state), 0.0)
    is_saturated = state != 0.0
    return {
        "output": np.where(enable, _bounded(u, maxoutput), 0.0),
        "error": error,
        "errorI": total,
        "errorD": rate,
        "commandD": velocity,
        "commandDD": acceleration,
        "commandDDD": jerk,
        "saturated": is_saturated,
        "saturated_s": np.where(is_saturated, saturated_s + tick, 0.0),
        "saturated_count": np.where(is_saturated, saturated_count + 1, 0),
        "limit_state": state,
        "command_before": command,
        "feedback_before": feedback,
        "command_rate": command_rate,
        "feedback_rate": feedback_rate,
        "index_before": index_enable,
    }


def _rate(pin: Array, computed: Array) -> Array:
    return np.where(np.isnan(pin), computed, pin)


def _bounded(value: Array, limit: Array) -> Array:
    if not np.count_nonzero(limit):
        return value
    reach = np.where(limit == 0.0, np.inf, limit)
    return np.minimum(np.maximum(value, -reach), reach)


def _beyond(error: Array, deadband: Array) -> Array:
    if not np.count_nonzero(deadband):
        return np.where(np.isnan(error), 0.0, error)
    return np.where(error > deadband, error - deadband, np.where(error < -deadband, error + deadband, 0.0))


def _side(u: Array, limit: Array, before: Array) -> Array:
    """Return 1 where u is above the limit, −1 where it is below the negative limit, and 0 in between.

    Return `before` if there is no limit.
    """
    if not np.count_nonzero(limit):
        return before
    return np.where(limit == 0.0, before, (u > limit) * 1.0 - (u < -limit))
