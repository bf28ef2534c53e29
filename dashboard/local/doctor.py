"""``make doctor``: the product's own check-up, with the secrets of a data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dashboard.local import environment, parts
from dashboard.local.data_folder import DataFolder

SERVERS = ("DATABASE_URL", "REDIS_URL")


def doctor(data_path: str) -> int:
    """Say whether the installation in ``data_path`` is well. Returns the exit code.

    Nothing is made or changed there; 2 where there is nothing to be examined.
    """
    data = DataFolder(Path(data_path).expanduser().resolve())
    env = dict(os.environ)
    for name in SERVERS:
        if not environment.given(name, env):
            env[f"{name}_FILE"] = str(data.secret(name.lower()))
    if fault := _nothing_to_examine(data, env):
        print(fault, file=sys.stderr)
        return 2
    env = environment.build(data, "127.0.0.1", 0, env)
    command = [sys.executable, "manage.py", "doctor"]
    return subprocess.run(command, cwd=parts.ROOT, env=env, check=False).returncode


def _nothing_to_examine(data: DataFolder, env: dict[str, str]) -> str | None:
    files = [data.secret("secret_key")]
    files += [Path(env[f"{name}_FILE"]) for name in SERVERS if f"{name}_FILE" in env]
    if not all(file.exists() for file in files):
        return (
            f"Nothing was ever started in {data.root}. Start it with `make up`, "
            "or name the folder that you started it in: `make doctor DATA=…`."
        )
    if fault := environment.unreachable("DATABASE_URL", env):
        return f"The database does not run; `make up` starts it. {fault}"
    return None
