import json
import subprocess
import sys


def verdicts(answers):
    """What maskgate says of each answer: "masked" with signal, kind and reason, "scored" or "unknown"."""
    lines = "".join(json.dumps(answer) + "\n" for answer in answers)
    command = ["maskgate", "explain", "--json", "-"]
    found = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [json.loads(line) for line in found.splitlines()]


answers = [json.loads(line) for line in sys.stdin]
rewards = [
    answer["reward"]
    for answer, found in zip(answers, verdicts(answers))
    if found["verdict"] == "scored"
]
print(f"mean {sum(rewards) / len(rewards):.2f} of {len(rewards)} measured, {len(answers) - len(rewards)} left out")
