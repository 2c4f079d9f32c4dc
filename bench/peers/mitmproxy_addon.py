"""mitmproxy: the answer is read whole, parsed, and sent or translated."""

import sys
from pathlib import Path

from mitmproxy import http

sys.path.insert(0, str(Path(__file__).parent))
from masked import masked_body  # noqa: E402


def response(flow: http.HTTPFlow) -> None:
    if flow.response.status_code != 200:
        return
    masked = masked_body(flow.response.raw_content)
    if masked is not None:
        headers = {"content-type": "application/problem+json"}
        flow.response = http.Response.make(503, masked, headers)
