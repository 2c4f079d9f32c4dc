"""What the installed wheel must do where no node is on the PATH; run by .ci/wheel with the Python it is installed for."""

import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from http.server import ThreadingHTTPServer
from importlib.metadata import metadata
from pathlib import Path

MASKED = b'{"reward":0.0,"mask_sample":true,"failure_kind":"judge_failed","failure_reason":"the judge is gone"}'
SCRIPT = str(Path(sys.executable).parent / "maskgate")
MODULE = [sys.executable, "-m", "maskgate"]

# A server for `maskgate run`, as an unmodified one would be started.
SERVER = f"""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Gym(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/end":
            import os
            os._exit(9)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "{len(MASKED)}")
        self.end_headers()
        self.wfile.write({MASKED!r})
    def log_message(self, *args):
        pass
if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Gym).serve_forever()
"""


def main() -> None:
    assert shutil.which("node") is None, "a node is on the PATH"
    version = said([SCRIPT, "--version"])
    assert version == said([*MODULE, "--version"]) == sys.argv[1], version
    assert "503 Masked" in said([SCRIPT, "demo"])
    described_without_dead_links()
    refused = subprocess.run([*MODULE, "serve", "nowhere"], check=False, capture_output=True, text=True)
    assert refused.returncode == 2 and "upstream" in refused.stderr, refused
    strict_verify()
    run_ends_with_its_server()
    print(f"Python {sys.version.split()[0]}: maskgate {version} works")


def described_without_dead_links() -> None:
    text = metadata("maskgate").get_payload()
    assert "docs/DEPLOY.md" in text
    links = [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https:")]
    assert links == [], links


def said(command: list[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def strict_verify() -> None:
    """A masked answer becomes 503; the process is Node itself, and a signal stops it with 0."""
    space: dict = {"__name__": "gym"}
    exec(SERVER, space)
    server = ThreadingHTTPServer(("127.0.0.1", 0), space["Gym"])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    upstream = f"http://127.0.0.1:{server.server_port}"
    gate = started(["serve", upstream, "--port", "0", "--masked-as-error"])
    assert_masked(listening(gate))
    gate.send_signal(signal.SIGTERM)
    assert gate.wait() == 0
    server.shutdown()


def run_ends_with_its_server() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", SERVER, "--port", str(port)]
    gate = started(["run", "--port", "0", "--masked-as-error", "--", *command])
    url = listening(gate)
    assert_masked(url)
    assert_status(url, "/end", 502)
    assert gate.wait() == 9


def started(words: list[str]) -> subprocess.Popen:
    return subprocess.Popen([SCRIPT, *words], stderr=subprocess.PIPE, text=True)


def listening(gate: subprocess.Popen) -> str:
    assert gate.stderr is not None
    for line in gate.stderr:
        if line.startswith("{") and json.loads(line)["event"] == "listening":
            threading.Thread(target=gate.stderr.read, daemon=True).start()
            return json.loads(line)["url"]
    raise AssertionError(f"maskgate ended with {gate.wait()} before it listened")


def assert_masked(url: str) -> None:
    reason = assert_status(url, "/verify", 503)
    assert reason == "Masked: judge_failed: the judge is gone", reason


def assert_status(url: str, path: str, status: int) -> str:
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    connection.request("POST", path, b"{}", {"content-type": "application/json"})
    reply = connection.getresponse()
    reply.read()
    connection.close()
    assert reply.status == status, reply.status
    return reply.reason


main()
