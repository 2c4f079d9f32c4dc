"""Run one real step of TRL's GRPOTrainer for each case and print what the group's statistics became.

Standard input: {"cases": {NAME: {"url": URL, "function": "unsloth" | "axolotl"}}, "row": {...}, "response": {...}}. The policy is a tiny
model with random weights, the same for every case; its group is eight completions of one prompt, each scored by a reward function that posts
to URL/verify (`reward_functions.py`). "Sample N: " is put before the completion, so that the judge behind the server can tell them apart.
Standard output: {NAME: {"rewards", "advantages", "mean", "std", "learned", "finite", "warned"}}, or {NAME: {"raised": TYPE}}; NaN is null.
"""

import copy
import json
import logging
import math
import sys
import tempfile

import reward_functions
import requests
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.trainer import grpo_trainer

GROUP = 8
WORDS = [*"abcdefghijklmnop", "<pad>", "<end>"]


def make_tokenizer() -> PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<pad>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<end>")


def make_model() -> Qwen2ForCausalLM:
    torch.manual_seed(1)
    config = Qwen2Config(
        vocab_size=len(WORDS),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=WORDS.index("<pad>"),
        eos_token_id=WORDS.index("<end>"),
        bos_token_id=None,
    )
    return Qwen2ForCausalLM(config)


def reward_function(case: dict, work: dict, seen: list):
    score = getattr(reward_functions, case["function"])

    def gym_reward(completions, **_):
        for at, completion in enumerate(completions):
            session = requests.Session()
            session.post(f"{case['url']}/seed_session", json=work["row"]).raise_for_status()
            response = copy.deepcopy(work["response"])
            response["output"][0]["content"][0]["text"] = f"Sample {at}: {completion}"
            seen.append(score(session, case["url"], work["row"] | {"response": response}))
        return seen

    return gym_reward


class Warnings(logging.Handler):
    def __init__(self):
        super().__init__()
        self.seen = []

    def emit(self, record):
        self.seen.append(record.getMessage())


def plain(value):
    return None if value is None or math.isnan(value) else round(value, 3)


def step(case: dict, work: dict, folder: str) -> dict:
    rewards, warnings = [], Warnings()
    grpo_trainer.logger.logger.addHandler(warnings)
    model = make_model()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    trainer = GRPOTrainer(
        model=model,
        processing_class=make_tokenizer(),
        reward_funcs=reward_function(case, work, rewards),
        train_dataset=Dataset.from_list([{"prompt": "a b c"}] * GROUP),
        args=GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=GROUP,
            num_generations=GROUP,
            max_completion_length=6,
            max_steps=1,
            logging_steps=1,
            learning_rate=0.01,
            lr_scheduler_type="constant",
            use_cpu=True,
            bf16=False,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            seed=1,
        ),
    )
    try:
        trainer.train()
    except Exception as error:
        return {"raised": type(error).__name__}
    finally:
        grpo_trainer.logger.logger.removeHandler(warnings)
    after = list(model.parameters())
    logged = next(entry for entry in trainer.state.log_history if "reward" in entry)
    return {
        "rewards": [plain(reward) for reward in rewards],
        "advantages": [plain(advantage) for advantage in trainer._logs["advantages"]],
        "mean": plain(logged["reward"]),
        "std": plain(logged["reward_std"]),
        "learned": any(not torch.equal(old, new) for old, new in zip(before, after, strict=True)),
        "finite": all(bool(torch.isfinite(parameter).all()) for parameter in after),
        "warned": any("All reward functions returned None" in text for text in warnings.seen),
    }


def main() -> None:
    work = json.load(sys.stdin)
    output, sys.stdout = sys.stdout, sys.stderr  # the trainer prints its logs
    with tempfile.TemporaryDirectory() as folder:
        found = {name: step(case, work, folder) for name, case in work["cases"].items()}
    json.dump(found, output)


if __name__ == "__main__":
    main()
