"""Collect rollouts the way NeMo Gym does, once for each address of one resources server, and print the files.

Standard input: {"model": URL, "addresses": {NAME: URL}, "rows": [...], "observability": bool, "sidecar": bool,
"folder": PATH}. For each address a simple_agent of its own is served here, and before it the relay that Gym puts
before every agent; the rows go through its /run with RolloutCollectionHelper.run_from_config. The configuration
comes in through the environment, as for every process that Gym starts.
Standard output: {NAME: {"raised": text or null, "rollouts": [...], "failures": [...], "metrics": ...}}.
"""

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from omegaconf import OmegaConf

HEAD_SERVER = {"host": "127.0.0.1", "port": 11000}


def place(url: str) -> dict:
    parts = urlsplit(url)
    return {"entrypoint": "app.py", "host": parts.hostname, "port": parts.port}


def free_port() -> int:
    import socket

    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def agent_place(name: str) -> dict:
    return place(f"http://127.0.0.1:{free_port()}") | {
        "resources_server": {"type": "resources_servers", "name": f"{name}_resources"},
        "model_server": {"type": "responses_api_models", "name": "agent_model"},
    }


def relay_place(name: str) -> dict:
    return place(f"http://127.0.0.1:{free_port()}") | {
        "agent_server": {"type": "responses_api_agents", "name": f"{name}_agent"},
        "max_concurrent_episodes": None,
        "queue_timeout_seconds": None,
        "default_episode_timeout_seconds": 600,
        "cleanup_timeout_seconds": 60,
    }


def whole_config(work: dict) -> dict:
    config: dict = {
        "head_server": HEAD_SERVER,
        "dry_run": False,
        "agent_model": {"responses_api_models": {"stand_in": place(work["model"])}},
    }
    if work["observability"]:
        config["observability_enabled"] = True
        config["model_call_capture_dir"] = str(Path(work["folder"]) / "captures")
    for name, url in work["addresses"].items():
        config[f"{name}_resources"] = {
            "resources_servers": {"equivalence_llm_judge": place(url) | {"domain": "knowledge"}}
        }
        config[f"{name}_agent"] = {"responses_api_agents": {"simple_agent": agent_place(name)}}
        config[f"{name}_relay"] = {"environment_servers": {"legacy_agent": relay_place(name)}}
    return config


async def serve(name: str, config: dict) -> None:
    from environment_servers.legacy_agent.app import LegacyAgentEnvironmentServer
    from nemo_gym.config_types import BaseServerConfig
    from nemo_gym.server_utils import ServerClient
    from responses_api_agents.simple_agent.app import SimpleAgent

    kind, own = next((kind, next(iter(entry.values()))) for kind, entry in config[name].items())
    cls = SimpleAgent if kind == "responses_api_agents" else LegacyAgentEnvironmentServer
    instance = cls(
        config=cls.model_fields["config"].annotation(name=name, **own),
        server_client=ServerClient(
            head_server_config=BaseServerConfig(**HEAD_SERVER), global_config_dict=OmegaConf.create(config)
        ),
    )
    app = instance.setup_webserver()
    instance.setup_liveness(app)
    instance.setup_exception_middleware(app)
    server = uvicorn.Server(uvicorn.Config(app, host=own["host"], port=own["port"], log_level="warning"))
    # On the collector's own loop: they share the one HTTP client that nemo_gym keeps for a process.
    serving = asyncio.create_task(server.serve())
    while not server.started and not serving.done():
        await asyncio.sleep(0.05)


def lines(path: Path) -> list:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def collect(name: str, work: dict) -> dict:
    from nemo_gym.rollout_collection import RolloutCollectionConfig, RolloutCollectionHelper

    folder = Path(work["folder"]) / name
    folder.mkdir(parents=True)
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in work["rows"]))
    output = folder / "rollouts.jsonl"
    config = RolloutCollectionConfig(
        agent_name=f"{name}_agent",
        input_jsonl_fpath=str(rows),
        output_jsonl_fpath=str(output),
        num_repeats=2,
        num_samples_in_parallel=1,
        route_failures_to_sidecar=work["sidecar"],
    )
    raised = None
    try:
        await RolloutCollectionHelper().run_from_config(config)
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
    metrics = folder / "rollouts_aggregate_metrics.json"
    return {
        "raised": raised,
        "rollouts": lines(output),
        "failures": lines(folder / "rollouts_failures.jsonl"),
        "metrics": json.loads(metrics.read_text()) if metrics.exists() else None,
    }


def main() -> None:
    work = json.load(sys.stdin)
    config = whole_config(work)
    os.environ["NEMO_GYM_CONFIG_DICT"] = OmegaConf.to_yaml(OmegaConf.create(config))
    os.environ["NEMO_GYM_CONFIG_PATH"] = "collector"
    os.chdir(work["folder"])

    async def collect_all() -> dict:
        for name in work["addresses"]:
            await serve(f"{name}_agent", config)
            await serve(f"{name}_relay", config)
        return {name: await collect(name, work) for name in work["addresses"]}

    with contextlib.redirect_stdout(sys.stderr):
        found = asyncio.new_event_loop().run_until_complete(collect_all())
    json.dump(found, sys.stdout)
    sys.stdout.flush()
    # The servers are still up; there is nothing of theirs to keep.
    os._exit(0)


if __name__ == "__main__":
    main()
