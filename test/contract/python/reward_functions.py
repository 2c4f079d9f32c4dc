"""Score one row with the reward functions that post to /verify themselves, and print what a trainer would get.

Standard input: {"urls": {NAME: URL}, "rows": [played, masked], "response": {...}}. Each function is written as its project's is: what
it does with a status and with the member `reward` is theirs, the rest is cut away.
Standard output: {NAME: {FUNCTION: [played, masked]}}, where a crash is "crash: TYPE" and NaN is "nan".
"""

import json
import math
import sys

import requests


def unsloth(session: requests.Session, url: str, body: dict):
    """Unsloth's NeMo Gym notebooks: python_scripts/NeMo-Gym-Sudoku.py:447-453."""
    try:
        answer = session.post(f"{url}/verify", json=body, timeout=30)
        return answer.json()["reward"] if answer.status_code == 200 else 0.0
    except Exception:
        return 0.0


def axolotl(session: requests.Session, url: str, body: dict):
    """axolotl: src/axolotl/integrations/nemo_gym/rewards.py:165-172, 255-270."""
    try:
        answer = session.post(f"{url}/verify", json=body, timeout=30)
        reward = answer.json().get("reward", 0.0) if answer.status_code == 200 else 0.0
    except Exception:
        reward = 0.0
    return float(reward)


def nemo_rl(session: requests.Session, url: str, body: dict):
    """NeMo RL: nemo_rl/experience/rollouts.py:266-277. True is "left out of the loss"."""
    answer = session.post(f"{url}/verify", json=body)
    answer.raise_for_status()
    return bool((answer.json().get("instance_config") or {}).get("mask_sample", False))


def outcome(function, url: str, task: dict, body: dict):
    session = requests.Session()
    session.post(f"{url}/seed_session", json=task).raise_for_status()
    try:
        value = function(session, url, body)
    except Exception as error:
        return f"crash: {type(error).__name__}"
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def main() -> None:
    work = json.load(sys.stdin)
    found = {
        name: {
            function.__name__: [outcome(function, url, row, row | {"response": work["response"]}) for row in work["rows"]]
            for function in (unsloth, axolotl, nemo_rl)
        }
        for name, url in work["urls"].items()
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
