"""What every Python peer makes of an answer."""

import json

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length"}


def masked_body(body: bytes) -> bytes | None:
    """The body of the error for a masked answer; None for any other."""
    try:
        row = json.loads(body)
    except ValueError:
        return None
    if not isinstance(row, dict):
        return None
    config = row.get("instance_config")
    masked = (
        row.get("mask_sample")
        or (isinstance(config, dict) and config.get("mask_sample"))
        or row.get("_ng_failure_class") is not None
        or row.get("_ng_no_persist")
    )
    if not masked:
        return None
    detail, kind = row.get("failure_reason"), row.get("failure_kind")
    return json.dumps({"status": 503, "detail": detail, "failure_kind": kind}).encode()
