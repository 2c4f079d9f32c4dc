"""Print the newest agentenv-framework's version, and fail when there is none."""

from importlib.metadata import version

print(version("agentenv-framework"))
