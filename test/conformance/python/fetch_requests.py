"""Put the sources of requests 2.32.5, whose tests no wheel holds, into the environment."""

import subprocess
import sys
import tarfile
from pathlib import Path

NAME = "requests-2.32.5"

folder = Path(sys.prefix) / "suite"
command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", folder]
subprocess.run([*command, NAME.replace("-", "==")], check=True)
with tarfile.open(folder / f"{NAME}.tar.gz") as archive:
    archive.extractall(folder, filter="data")
