"""Print the saved rollouts of a vf-eval run as JSON, read with verifiers' own types.

usage: read_traces.py RUN_FOLDER
"""

import json
import sys
from pathlib import Path

from verifiers.v1 import WireTrace

try:
    from verifiers.v1.utils.trace_store import read_episodes
except ModuleNotFoundError:  # verifiers 0.3
    from verifiers.v1.cli.output import read_episodes


def main() -> None:
    traces = [trace for episode in read_episodes(Path(sys.argv[1]), WireTrace) for trace in episode.traces]
    rows = [
        {
            "name": trace.task.data.name,
            "row": trace.task.data.row,
            "has_error": trace.has_error,
            "error": trace.last_error and {"type": trace.last_error.type, "message": trace.last_error.message},
            "rewards": {name: reward and reward.score for name, reward in trace.rewards.items()},
            "metrics": trace.metrics,
            "info": trace.info,
        }
        for trace in traces
    ]
    json.dump(sorted(rows, key=lambda row: row["name"]), sys.stdout)


if __name__ == "__main__":
    main()
