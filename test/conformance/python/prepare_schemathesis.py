"""Import schemathesis once, so that its byte code is there."""

import schemathesis  # noqa: F401
