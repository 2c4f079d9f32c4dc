"""Import what the tests start of a nemo-gym before 0.7.0, once, so that its byte code is there."""

import resources_servers.equivalence_llm_judge.app  # noqa: F401
