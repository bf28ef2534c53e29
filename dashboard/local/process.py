"""Start, watch and stop processes that must not outlive this one."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.local import inherited
from dashboard.local.account import Account

POLL_S = 0.02
PR_SET_PDEATHSIG = 1
# Loaded here, not in the child: between fork and exec as little as possible may run.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class StartError(RuntimeError):
    """A part could not be started; the message says why and what to do."""


@dataclass(frozen=True)
class Command:
    """What to run, as whom, and how to ask it to stop.

    ``stop_signals`` are tried in turn, each with the seconds to wait after it, before
    SIGKILL. ``death_signal`` is what the kernel sends should this process die first.
    """

    argv: Sequence[str | Path]
    env: Mapping[str, str] = field(default_factory=inherited.harmless)
    cwd: Path = Path("/")
    account: Account | None = None
    stdin: bytes = b""
    pass_fds: Sequence[int] = ()
    stop_signals: Sequence[tuple[signal.Signals, float]] = ((signal.SIGTERM, 5.0),)
    death_signal: signal.Signals = signal.SIGKILL


def spawn(command: Command, log: Path) -> subprocess.Popen[bytes]:
    """Start ``command`` in a session of its own, its output appended to ``log``.

    Must be called from the main thread: the kernel ties a child's life to the thread
    that started it. Raises ``StartError`` where the program cannot be run.
    """
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    account = command.account
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                [os.fspath(part) for part in command.argv],
                env=dict(command.env),
                cwd=command.cwd,
                stdin=subprocess.PIPE if command.stdin else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=command.pass_fds,
                start_new_session=True,  # a terminal's Ctrl-C is for us alone
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
                preexec_fn=_tie_to_parent(command.death_signal),
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise StartError(f"cannot run {command.argv[0]}: {error}") from error
    if process.stdin is not None:
        with process.stdin as pipe:
            pipe.write(command.stdin)
    return process


def _tie_to_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    """What makes the kernel end the child when this process is gone, on Linux.

    ``Popen`` calls it after the change of user, which would have cleared the wish.
    """
    if _LIBC is None:
        return None
    libc, parent = _LIBC, os.getpid()

    def tie() -> None:
        libc.prctl(PR_SET_PDEATHSIG, int(death_signal))
        if os.getppid() != parent:  # it died before the wish was made
            os._exit(1)

    return tie


def wait_until(
    condition: Callable[[], bool],
    timeout_s: float,
    give_up: Callable[[], bool] = lambda: False,
) -> bool:
    """Whether ``condition`` came true in ``timeout_s`` and before ``give_up`` did."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if give_up() or time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def stop(
    process: subprocess.Popen[bytes],
    signals: Sequence[tuple[signal.Signals, float]],
    hurry: Callable[[], bool] = lambda: False,
) -> None:
    """End ``process``: each signal in turn, then SIGKILL; at once when ``hurry``."""
    for number, grace_s in signals:
        if process.poll() is not None:
            return
        process.send_signal(number)
        wait_until(lambda: process.poll() is not None, grace_s, give_up=hurry)
    if process.poll() is None:
        process.kill()
    process.wait()


@dataclass(frozen=True)
class Job:
    """A command that comes to an end by itself, under way."""

    command: Command
    log: Path
    process: subprocess.Popen[bytes]

    def finish(
        self, timeout_s: float = 300, give_up: Callable[[], bool] = lambda: False
    ) -> None:
        """Wait for its end.

        Raises ``StartError``, with its last words, where it fails or takes too long.
        """
        name = " ".join(os.fspath(part) for part in self.command.argv[:3])
        if not wait_until(lambda: self.process.poll() is not None, timeout_s, give_up):
            stop(self.process, self.command.stop_signals, hurry=give_up)
            raise StartError(f"{name} did not finish (log: {self.log})")
        if self.process.returncode != 0:
            raise StartError(f"{name} failed: {last_line(self.log)} (log: {self.log})")


def begin(command: Command, log: Path) -> Job:
    """Start a command whose end will be waited for."""
    return Job(command, log, spawn(command, log))


def run(
    command: Command, log: Path, give_up: Callable[[], bool] = lambda: False
) -> None:
    """Run a command to its end. Raises ``StartError`` where it fails."""
    begin(command, log).finish(give_up=give_up)


def last_line(log: Path) -> str:
    """The last line of a log that says something, or a note that there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4096))
            text = file.read().decode(errors="replace")
    except OSError:
        text = ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it wrote nothing"
