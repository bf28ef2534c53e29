"""What programs that are not ours may see of our environment.

It holds secrets (API keys, a mail server's password), and what a process inherited can
be read by whoever is the same user: root's PostgreSQL is another user's.
"""

from __future__ import annotations

import os

NAMES = ("PATH", "HOME", "LANG", "TZ", "LD_LIBRARY_PATH", "TMPDIR")


def harmless(*more: str) -> dict[str, str]:
    """The variables that programs need to run at all, and those named in ``more``."""
    names = {*NAMES, *more}
    return {
        name: value
        for name, value in os.environ.items()
        if name in names or name.startswith("LC_")
    }
