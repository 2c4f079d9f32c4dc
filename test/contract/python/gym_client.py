"""Post requests with nemo-gym's own ServerClient and print what came back, as one JSON document.

Standard input: {"servers": {NAME: URL}, "requests": [{"server", "path", "json", "session"}]}. Requests are sent one
after the other. The requests of one session all carry the cookie that the first answer of that session set, as it
was set, so that two requests differ in nothing but where they go.
Standard output: {"answers": [{"status", "reason", "headers", "body"}], "gym": {NAME: {...}}}, where `gym` is how Gym
itself reads the /verify answers of a server: its own select_measured() tells the masked from the measured.
"""

import asyncio
import json
import sys
from urllib.parse import urlsplit

from nemo_gym.config_types import BaseServerConfig
from nemo_gym.reward_profile import select_measured
from nemo_gym.server_utils import ServerClient
from omegaconf import OmegaConf


def client_for(servers: dict[str, str]) -> ServerClient:
    config = {
        name: {"resources_servers": {name: {"host": urlsplit(url).hostname, "port": urlsplit(url).port}}}
        for name, url in servers.items()
    }
    head = BaseServerConfig(host="127.0.0.1", port=11000)
    return ServerClient(head_server_config=head, global_config_dict=OmegaConf.create(config))


async def send_all(work: dict) -> list[dict]:
    client = client_for(work["servers"])
    sessions: dict[str, dict[str, str]] = {}
    answers = []
    for request in work["requests"]:
        cookies = sessions.setdefault(request["session"], {})
        answer = await client.post(request["server"], request["path"], json=request["json"], cookies=cookies)
        body = await answer.read()
        if not cookies:
            cookies.update({name: morsel.value for name, morsel in answer.cookies.items()})
        answers.append(
            {
                "status": answer.status,
                "reason": answer.reason,
                "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in answer.raw_headers],
                "body": body.decode("latin-1"),
            }
        )
    return answers


def read_as_gym(requests: list[dict], answers: list[dict], server: str) -> dict:
    results = [
        json.loads(answer["body"].encode("latin-1"))
        for request, answer in zip(requests, answers)
        if request["server"] == server and request["path"] == "/verify" and answer["status"] == 200
    ]
    _, measured, masked, _ = select_measured([], results)
    rewards = [result["reward"] for result in measured]
    return {"measured": len(measured), "masked": len(masked), "mean": sum(rewards) / len(rewards) if rewards else None}


def main() -> None:
    work = json.load(sys.stdin)
    answers = asyncio.run(send_all(work))
    gym = {name: read_as_gym(work["requests"], answers, name) for name in work["servers"]}
    json.dump({"answers": answers, "gym": gym}, sys.stdout)


if __name__ == "__main__":
    main()
