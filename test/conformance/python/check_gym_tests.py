"""Import what nemo-gym's servers and their tests need, once, so that its byte code is there."""

import nemo_gym.reward_profile  # noqa: F401
import pytest_asyncio  # noqa: F401
import resources_servers.example_mcp_weather.app  # noqa: F401
