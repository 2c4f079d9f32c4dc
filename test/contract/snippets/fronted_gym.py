"""A managed NeMo Gym taskset whose server has a maskgate in front of it."""

import asyncio
import json

from verifiers.v1.tasksets.nemo_gym import NeMoGymEnv, NeMoGymTaskset

__all__ = ["FrontedEnv", "FrontedTaskset"]


class FrontedTaskset(NeMoGymTaskset):
    resource_server = "resources_servers.example_mcp_weather.app:ExampleMCPWeatherResourcesServer"


class FrontedEnv(NeMoGymEnv):
    async def start(self):
        await super().start()  # the server is up, and its address is known
        task = self.taskset.config.task
        command = ["maskgate", "serve", task.resources_url, "--port", "0", "--masked-as-error"]
        self.gate = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        async for line in self.gate.stderr:
            record = json.loads(line)
            if record["event"] == "listening":
                task.resources_url = record["url"]
                break
        self.log = asyncio.create_task(self.gate.stderr.read())  # lines that nobody takes would be left out

    async def stop(self):
        self.gate.terminate()
        await self.gate.wait()
        await super().stop()
