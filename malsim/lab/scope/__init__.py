"""An oscilloscope for recorded frames, after LinuxCNC's halscope: channels, a trigger, cursors, captures."""

from malsim.lab.scope.capture import Capture
from malsim.lab.scope.channels import Channel, Recording
from malsim.lab.scope.scope import capture, scope
from malsim.lab.scope.trigger import Trigger

__all__ = ["Capture", "Channel", "Recording", "Trigger", "capture", "scope"]
