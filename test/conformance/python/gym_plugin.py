"""Starlette's TestClient, which calls the application in its own process, replaced by a client that talks HTTP to uvicorn with a front before it."""

import socket
import threading
import time

import starlette.testclient
import uvicorn

from conformance import put_before, pytest_runtest_logreport, pytest_sessionfinish  # noqa: F401

START_S = 30


class OverHttp(starlette.testclient.httpx.Client):
    __test__ = False

    def __init__(self, app, base_url=None, raise_server_exceptions=True, cookies=None, headers=None, follow_redirects=True):
        listener = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        self.thread = threading.Thread(target=self.server.run, args=([listener],), daemon=True)
        self.thread.start()
        deadline = time.monotonic() + START_S
        while not self.server.started:
            if not self.thread.is_alive() or time.monotonic() > deadline:
                raise RuntimeError("uvicorn did not start")
            time.sleep(0.01)
        super().__init__(
            base_url=put_before(url),
            cookies=cookies,
            headers={"user-agent": "testclient", **(headers or {})},
            follow_redirects=follow_redirects,
            timeout=60,
            trust_env=False,
        )

    def __exit__(self, *exception) -> None:
        super().__exit__(*exception)
        self.server.should_exit = True
        self.thread.join()


starlette.testclient.TestClient = OverHttp
