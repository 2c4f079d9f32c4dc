"""Serve one real nemo-gym resources server until standard input closes.

usage: serve_gym.py STYLE MODULE:CLASS PORT CONFIG_YAML [GLOBALS_YAML]

STYLE `run_webserver` starts it as Gym's command line does: the config comes in through the environment and the
class's own run_webserver() is called, so uvicorn's settings and all middlewares are the production ones.
STYLE `verifiers` starts it as the managed server of verifiers does (verifiers/v1/tasksets/nemo_gym/server.py):
the class is built by hand and served by a plain uvicorn.
CONFIG_YAML is the server's own config file, in Gym's form; GLOBALS_YAML is merged over it.
"""

import os
import sys
import threading
from importlib import import_module
from pathlib import Path

from omegaconf import OmegaConf

HOST = "127.0.0.1"
# A resources server only records where Gym's head server would be; nothing listens there.
HEAD_SERVER = {"host": HOST, "port": 11000}


def end_with_standard_input() -> None:
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


def load_config(path: str, more: str, port: int):
    own = OmegaConf.load(path)
    config = OmegaConf.merge(own, OmegaConf.create(more))
    # Not resolved: a file may refer to keys that only `more` has.
    plain = OmegaConf.to_container(own, resolve=False)
    name = next(key for key, value in plain.items() if isinstance(value, dict) and "resources_servers" in value)
    server = next(iter(config[name].resources_servers.values()))
    server.host, server.port = HOST, port
    return name, server, config


def serve_as_production(cls, name: str, config) -> None:
    everything = OmegaConf.merge({"head_server": HEAD_SERVER, "dry_run": False}, config)
    os.environ["NEMO_GYM_CONFIG_DICT"] = OmegaConf.to_yaml(everything)
    os.environ["NEMO_GYM_CONFIG_PATH"] = name
    cls.run_webserver()


def serve_as_verifiers(cls, name: str, server, config) -> None:
    import uvicorn
    from nemo_gym.config_types import BaseServerConfig
    from nemo_gym.server_utils import ServerClient

    instance = cls(
        config=cls.model_fields["config"].annotation(name=name, **OmegaConf.to_container(server)),
        server_client=ServerClient(head_server_config=BaseServerConfig(**HEAD_SERVER), global_config_dict=config),
    )
    app = instance.setup_webserver()
    instance.setup_liveness(app)
    instance.setup_exception_middleware(app)
    uvicorn.run(app, host=HOST, port=server.port)


def main() -> None:
    style, target, port, path, *more = sys.argv[1:]
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    module_name, class_name = target.split(":")
    module = import_module(module_name)
    folder = Path(module.__file__).parent
    path = path or folder / "configs" / f"{folder.name}.yaml"
    name, server, config = load_config(path, more[0] if more else "{}", int(port))
    # A server reads its prompts and its data from its own folder.
    os.chdir(folder)
    cls = getattr(module, class_name)
    if style == "run_webserver":
        serve_as_production(cls, name, config)
    else:
        serve_as_verifiers(cls, name, server, config)


if __name__ == "__main__":
    main()
