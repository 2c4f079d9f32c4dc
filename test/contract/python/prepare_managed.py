"""Make the environments of the null harness and of the managed NeMo Gym server, so that the first run need not."""

import asyncio
from pathlib import Path

import verifiers.v1.tasksets.nemo_gym as nemo_gym
from verifiers.v1.harnesses.utils.launch import CHAT_PROGRAM_SOURCE
from verifiers.v1.runtimes import SubprocessConfig, make_runtime


async def main() -> None:
    runtime = make_runtime(SubprocessConfig())
    await runtime.start()
    try:
        await runtime.prepare_uv_script(CHAT_PROGRAM_SOURCE)
        await runtime.prepare_uv_script(Path(nemo_gym.__file__).with_name("server.py").read_bytes())
    finally:
        await runtime.stop()


asyncio.run(main())
