"""Make the environment that the null harness of verifiers 0.3 plays a rollout in, so that the first run need not."""

import asyncio

import verifiers.v1.cli.eval.main  # noqa: F401  (imported once here, so that its byte code is there)
from verifiers.v1.harnesses.null.harness import PROGRAM_SOURCE
from verifiers.v1.runtimes import SubprocessConfig, make_runtime


async def main() -> None:
    runtime = make_runtime(SubprocessConfig())
    await runtime.start()
    try:
        await runtime.prepare_uv_script(PROGRAM_SOURCE)
    finally:
        await runtime.stop()


asyncio.run(main())
