"""The command line: it reads arguments, calls a command, and turns what it raises into an exit code."""

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
    """Run one command: 0 yes or done, 1 the answer is no, 2 an error (a bad file, a bad argument, a bug).

    All that a command prints passes one stream, so that text of others cannot steer a terminal or a CI service. One that
    meets code of another package is begun again in a sandbox.
    """
    try:
        args = _parse(argv)
        with command_process(), redirect_stdout(cast("TextIO", PlainStream(sys.stdout))), Limits.of_environment().hold():
            if argv is None:  # only as a command, not when called from Python
                bound_memory(Limits.memory_in_force())
            return _result(args, sys.argv[1:] if argv is None else argv)
    except MalsimError as error:
        _tell(f"malsim: {error}")
    except BrokenPipeError:  # the reader of the pipe, such as head, has closed it
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        _tell("malsim: stopped")
    except OSError as error:
        what = "no such file; check the path" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        _tell(f"malsim: {error.filename or 'a file'}: {what}")
    except RecursionError:
        _tell("malsim: the input is nested too deeply; make it flatter")
    except MemoryError:
        _tell("malsim: not enough memory for this; ask for fewer replications, days or claims")
    except Exception as error:  # noqa: BLE001  # any other exception is a bug, not the answer no
        _tell(_bug(error))
    return ERROR


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    if any("\0" in word for word in argv or ()):  # a file name cannot contain NUL
        raise UsageError("not a valid argument", given="the NUL character", hint="leave it out")
    return main_parser(sys.argv[1:] if argv is None else argv).parse_args(argv)


def _result(args: argparse.Namespace, words: Sequence[str]) -> int:
    """Return the exit code of a command. Code of others, such as a law's, cannot end the process."""
    args.words = words
    try:
        return cast("Command", args.command).main(args)
    except SystemExit as problem:
        raise UsageError("user code of a law, an op or a memory would end this process") from problem
    except NeedsSandboxError:
        from malsim.adapters.engine.sandbox import run_sandboxed

        return run_sandboxed(words)


def _tell(message: str) -> None:
    print(plain_text(message), file=sys.stderr)


def _bug(error: Exception) -> str:
    """Return the report of a bug: the exception and its place, without text of the user's files."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if {"malsim", "ops"} & set(Path(frame.filename).parts)]
    last = (own or frames)[-1]
    location = f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.lineno}, in {last.name}"
    about = f"malsim {program_version()}, Python {platform.python_version()}"
    hint = "please report this line with the command and, if you may, the file that it was given; nothing was written"
    return f"malsim: this is a bug: {type(error).__name__} at {location} ({about}); {hint}"
