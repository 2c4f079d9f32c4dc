"""Import what the tests use, so that a broken environment is noticed here and its byte code is there."""

from datasets import Dataset  # noqa: F401
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM  # noqa: F401
from trl import GRPOConfig, GRPOTrainer  # noqa: F401
