"""What the pytest plugins share: putting a front before a server, and writing down what became of each test."""

import json
import os
import urllib.request

OUTCOMES: dict[str, str] = {}


def put_before(url: str) -> str:
    """The URL under which the suite reaches the server at `url`; the test run decides what stands between."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(os.environ["CONFORMANCE_CONTROL"], data=url.encode()) as reply:
        return reply.read().decode()


def pytest_runtest_logreport(report) -> None:
    outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
    if report.when == "call" or outcome != "passed":
        worst = OUTCOMES.get(report.nodeid) == "failed"
        OUTCOMES[report.nodeid] = "failed" if worst else outcome


def pytest_sessionfinish() -> None:
    with open(os.environ["CONFORMANCE_OUTCOMES"], "w") as file:
        json.dump(OUTCOMES, file)
