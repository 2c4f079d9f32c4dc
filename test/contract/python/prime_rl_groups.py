"""Score the groups of saved vf-eval runs with prime-rl's own code, and print the advantages.

usage: prime_rl_groups.py RUN_FOLDER...   (the name of a folder is how it is called in the output)

Run by nightly.yml only, with prime-rl from git: it is not on the package index. Written after its source at 559b447, where
orchestrator/algo/base.py has `iter_trainable_traces`, which skips a trace with an error, and orchestrator/algo/grpo.py scores a group
with what is left. Where today's source is another, the source in question is printed and the exit code is 1.
"""

import asyncio
import inspect
import sys
from collections import defaultdict
from pathlib import Path

from prime_rl.orchestrator.algo import base, grpo
from verifiers.v1 import WireTrace
from verifiers.v1.utils.trace_store import read_episodes


def groups_of(folder: Path) -> list[list]:
    groups = defaultdict(list)
    for episode in read_episodes(folder, WireTrace):
        groups[episode.traces[0].task.data.name].append(episode)
    return list(groups.values())


def scorer():
    """The class of grpo.py that scores a group."""
    own = [cls for _, cls in inspect.getmembers(grpo, inspect.isclass) if cls.__module__ == grpo.__name__]
    return next(cls for cls in own if hasattr(cls, "score_group"))


def advantages(group: list) -> list[float]:
    cls = scorer()
    # Scoring needs no clients and no configuration but what the class has by itself.
    scored = cls.score_group(cls.__new__(cls), group)
    if inspect.isawaitable(scored):
        scored = asyncio.run(scored)
    if scored is None:
        scored = [trace.advantage for trace in base.iter_trainable_traces(group)]
    return [round(float(advantage), 3) for advantage in scored]


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        for group in groups_of(folder):
            traces = list(base.iter_trainable_traces(group))
            print(f"{folder.name}: {len(traces)} of {len(group)} trainable, rewards {[trace.reward for trace in traces]}")
            print(f"{folder.name}: advantages {advantages(group)}")
            wanted = sum(not trace.has_error for episode in group for trace in episode.traces)
            if len(traces) != wanted:
                sys.exit(f"{folder.name}: {wanted} have no error")


if __name__ == "__main__":
    try:
        main()
    except (AttributeError, TypeError, StopIteration):
        print(inspect.getsource(base), inspect.getsource(grpo), sep="\n\n")
        raise
