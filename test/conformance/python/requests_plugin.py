"""pytest-httpbin's fixtures with a front before the plain one. Its own plugin must be off (-p no:httpbin): it would win."""

from socketserver import ThreadingMixIn
from types import SimpleNamespace
from wsgiref.simple_server import WSGIServer

import pytest
from httpbin import app
from pytest_httpbin import serve

from conformance import put_before, pytest_runtest_logreport, pytest_sessionfinish  # noqa: F401


class ThreadingServer(ThreadingMixIn, WSGIServer):
    """One thread for each connection: tests that give up on a slow answer would hold the next ones up for 20 s."""

    daemon_threads = True


@pytest.fixture(scope="session")
def httpbin():
    with serve.Server(application=app, server_class=ThreadingServer) as server:
        yield SimpleNamespace(url=put_before(server.url))


@pytest.fixture(scope="session")
def httpbin_secure():
    with serve.SecureServer(application=app) as server:
        yield server


@pytest.fixture(scope="session", params=["http", "https"])
def httpbin_both(request, httpbin, httpbin_secure):
    return httpbin if request.param == "http" else httpbin_secure
