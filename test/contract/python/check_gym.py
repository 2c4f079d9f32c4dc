"""Import what the contract tests start, once, so that its byte code is there."""

import nemo_gym.reward_profile  # noqa: F401
import resources_servers.equivalence_llm_judge.app  # noqa: F401
