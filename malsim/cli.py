"""Command line: parses arguments, runs a command, and converts exceptions to exit codes."""

from __future__ import annotations

import argparse
import platform
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TextIO, cast

from malsim.adapters.foreign_code import NeedsSandboxError, command_process
from malsim.base.errors import MalsimError, UsageError
from malsim.base.limits import Limits, bound_memory
from malsim.base.plain_text import PlainStream, plain_text
from malsim.parsers import Command, main_parser, program_version

ERROR = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Return 0 for success or yes, 1 for no, and 2 for an error (bad file, bad argument, or bug).

    All output passes through a filter, so that foreign text cannot control a terminal or a CI service. A command that runs
    foreign code is restarted in a sandbox.
    """
    try:
        args = _parse(argv)
        with command_process(), redirect_stdout(cast("TextIO", PlainStream(sys.stdout))), Limits.of_environment().hold():
            if argv is None:  # limit memory only in the command itself, not in calls from Python
                bound_memory(Limits.memory_in_force())
            return _result(args, sys.argv[1:] if argv is None else argv)
    except MalsimError as error:
        _print_error(f"malsim: {error}")
    except BrokenPipeError:  # the program that reads the pipe, such as head, has ended
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        _print_error("malsim: stopped")
    except OSError as error:
        reason = "no such file; check the path" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        _print_error(f"malsim: {error.filename or 'a file'}: {reason}")
    except RecursionError:
        _print_error("malsim: the input is nested too deeply; make it flatter")
    except MemoryError:
        _print_error("malsim: not enough memory; use fewer replications, days or claims")
    except Exception as error:  # noqa: BLE001  # any other exception is a bug
        _print_error(_bug(error))
    return ERROR


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    if any("\0" in word for word in argv or ()):  # a file name cannot contain NUL
        raise UsageError("an argument contains the NUL character", hint="leave it out")
    return main_parser(sys.argv[1:] if argv is None else argv).parse_args(argv)


def _result(args: argparse.Namespace, words: Sequence[str]) -> int:
    """Return a command's exit code. Foreign code, such as that of a law, cannot end the process."""
    args.words = words
    try:
        return cast("Command", args.command).main(args)
    except SystemExit as problem:
        raise UsageError("the code of a law, an op or a memory tried to end the process") from problem
    except NeedsSandboxError:
        from malsim.adapters.engine.sandbox import run_sandboxed

        return run_sandboxed(words)


def _print_error(message: str) -> None:
    print(plain_text(message), file=sys.stderr)


def _bug(error: Exception) -> str:
    """Format a bug report: the exception and its location, without text from the user's files."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if {"malsim", "ops"} & set(Path(frame.filename).parts)]
    last = (ours or frames)[-1]
    location = f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.lineno}, in {last.name}"
    versions = f"malsim {program_version()}, Python {platform.python_version()}"
    hint = "please report this line with the command and, if possible, its file; nothing was written"
    return f"malsim: this is a bug: {type(error).__name__} at {location} ({versions}); {hint}"
