"""What all models of the configuration have in common: prompts, reasoning, facts, and the defaults of a config."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, TypeAdapter

from litm.base.schema import FILLED_IN, Answer, Count, Device, Entry, Positive, Ref, Run, Workflow
from litm.engines.registry import engine_facts
from litm.prompting.reasoning import BUDGET, OFF, STRIP, TAGS, Reasoning

#: Engine of an entry that runs nothing.
RECORDED = "recorded"
#: Handling of reasoning; YAML reads a bare off as false.
Policy = Literal["off", False, "strip", "budget"] | None
#: Opening and closing tags of reasoning.
Tags = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=2, max_length=2)]

#: Values of `ComputeKeys`.
Quantization = Literal["none", "nf4", "int8"]
Attention = Literal["sdpa", "eager", "flash_attention_2"]


def only_strip(why: str) -> AfterValidator:
    """A check of `Policy` for models that allow no other policy, with the reason."""

    def check(policy: str | None) -> str | None:
        if policy not in (None, STRIP):
            raise ValueError(f"{policy or OFF} {why}; allowed: {STRIP}")
        return policy

    return AfterValidator(check)


class AskKeys(Entry):
    """Keys of models that answer prompts; a config may have defaults for them."""

    prompt_template: Annotated[
        str,
        Ref("prompt_templates"),
        Answer(
            "the name, left out or written, and the text of a named one; a chat template is in the files of the model"
        ),
    ] = FILLED_IN
    """Format of the prompt: raw (as it is), chat (as the user's message in the tokenizer's or the server's chat
    template), or a file of resources/prompt_templates. If omitted: raw if the tokenizer has no chat template, chat if
    the model's name marks an instruction-following model (instruct, chat, it), otherwise an error.
    """
    on_failure: Annotated[Literal["stop", "count"], Workflow("how prompts without an answer are handled")] = "stop"
    """What to do if prompts get no answer (for example because a server fails): stop (an error) or count (they are
    counted as failed in the tables and not scored). In both cases all answers are kept, and only prompts without an
    answer are sent again: after stop by the next run, after count by `snakemake --forcerun generate`. It changes no
    answer.
    """


class RunKeys(Entry):
    """Keys of models that run here; a config may have defaults for them."""

    dtype: Annotated[
        Literal["auto", "float32", "bfloat16", "float16"],
        Answer("the format of the computation, written or taken by the machine for `auto`"),
    ] = "auto"
    """Number format of the weights and the computation. auto is a format that the device computes fast and exactly:
    bfloat16 if the processor or GPU has instructions for it, else float32, or float16 on a GPU (not for
    encoder-decoders). The log, manifest and report state the format and the reason. Answers in different formats are
    never mixed: on a machine that chooses another format all prompts run again, unless you set the first format here.
    With auto, weights that are stored quantised keep their own format.
    """
    device: Annotated[Device, Run("the place of the computation; the audit measures its effect")] = "auto"
    """auto (a GPU if there is one), cpu, cuda, or cuda:N."""
    gpus: Annotated[Count, Workflow("as `device`")] = 1
    """GPUs per sweep; the model's layers are spread over several GPUs."""
    shards: Annotated[Count, Workflow("the job that runs the prompts")] = 1
    """Number of jobs that share the questions of a sweep, so that several GPUs or machines work at once. Each job
    reuses all earlier answers, even those from another number of shards.
    """
    batch_tokens: Annotated[Count, Run("the number of prompts at a time; the audit measures its effect")] = 16384
    """Tokens in one batch, including padding and new tokens. If memory runs out, it is halved, with a note in the log.
    """
    threads: Annotated[Count, Workflow("the speed")] = 8
    """CPU threads per sweep, at most Snakemake's cores."""


class ComputeKeys(Entry):
    """Keys of models that transformers loads; a config may have defaults for them."""

    quantization: Annotated[Quantization, Answer("as written, left out if `none`", is_sparse=True)] = "none"
    """none, or a format of bitsandbytes: nf4 (4 bits, NF4 with double quantisation) or int8. The computation uses
    `dtype`, but int8 multiplies in float16, and its answers may depend on the batch.
    """
    attention: Annotated[Attention, Answer("as written")] = "sdpa"
    """Attention implementation of transformers. Architectures without sdpa (Gemma 2, BLOOM, GPT-J, MPT, XGLM, Mamba,
    RWKV) need eager.
    """


class RequestKeys(Entry):
    """Keys of models on a server; a config may have defaults for them."""

    concurrency: Annotated[Count, Run("the number of requests at a time")] = 8
    """Simultaneous requests to a server."""
    request_timeout: Annotated[Count, Run("the time limit of a request")] = 600
    """Seconds without data from the server after which a request is cancelled and sent again."""
    request_total_timeout: Annotated[Count | None, Run("the time limit of a request")] = None
    """Seconds after which a request is cancelled and sent again even if the server still sends data, such as blanks
    that keep a connection open while a model reasons. If left out, an hour, or `request_timeout` if that is longer.
    """
    request_attempts: Annotated[Count, Run("the number of attempts")] = 10
    """Attempts per prompt, with growing waits between them. After the last attempt, the prompt has no answer until the
    next run.
    """


class BatchKeys(Entry):
    """Keys of models whose provider takes batches; a config may have defaults for them."""

    batch: Annotated[bool, Run("another way to the same answer", is_sparse=True)] = False
    """true: prompts go through the provider's batch interface, at half the price with OpenAI and Anthropic, and answers
    come within 24 hours. If a run ends before they arrive, the next run continues with the same batches.
    """


class ModelDefaults(BatchKeys, RequestKeys, AskKeys, ComputeKeys, RunKeys):
    """Defaults for keys that a model's entry leaves out."""


class About(Entry):
    """Facts about the model and its relations to others, for the table of claims. They change no answer."""

    longer_context_of: Annotated[str | None, Ref("models")] = None
    """The model that differs from this one only by its shorter context."""
    tuned_from: Annotated[str | None, Ref("models")] = None
    """The base model that was tuned into this instruction-following model."""
    family: str | None = None
    """Common name of models of several sizes, such as llama-2."""
    parameters: Positive | None = None
    """Number of parameters, in billions."""
    architecture: Literal["decoder", "encoder_decoder"] | None = None
    """Architecture of the model."""
    training_length: Count | None = None
    """Length in tokens of the longest prompts in its training."""


class AnyModel(Entry):
    """A model, or recorded responses of one."""

    #: Settings of an answer that belong to experiments.
    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("max_new_tokens", "stop", "metric", "examples", "positions"), "an experiment"
    )
    engine: Annotated[str, Answer("its name")]
    """The engine that runs the model, a module of scripts/litm/engines/modules ({engines}), or recorded: responses
    made elsewhere are scored and nothing is run.
    """
    about: Annotated[About | None, Workflow("facts for the table of claims")] = None
    """Facts about the model, for the table of claims."""

    @property
    def reasoning(self) -> Reasoning:
        """The handling of the model's reasoning."""
        return Reasoning()

    @property
    def not_counting(self) -> str | None:
        """Why `tokens_of` cannot name the model, whose tokens it would count; None if it can."""
        return None

    def stored_at(self, root: Path) -> str | None:
        """The folder or file of a model that runs here; None for others, and if it is not on this machine."""
        return None

    def is_here(self, root: Path) -> bool:
        """Whether the model runs here, and nothing has to be downloaded or installed."""
        return False


class ReasoningKeys(Entry):
    """Keys of models whose text may begin with reasoning."""

    policy: Annotated[
        Policy,
        Answer("if it changes the generated text: `off`, `budget`, and `strip` with `stop: first_line`", is_apart=True),
    ] = Field(None, alias="reasoning")
    """Handling of reasoning, the text between `<think>` and `</think>` before an answer. If omitted, it is part of the
    answer. off: the chat template's switch (`enable_thinking`) turns reasoning off. strip: only the text after the
    reasoning is scored. The recorded response stays whole, and the experiment's `max_new_tokens` limits both together.
    budget: as strip, but reasoning has its own limit, `reasoning_tokens`, and is closed when it reaches the limit
    (`engine: transformers`). With strip and budget, an answer's first line is the first after the reasoning. If the
    reasoning never ends, the answer is empty and counts as cut. Not needed for servers that return reasoning
    separately, or whose `request` turns it off.
    """
    reasoning_tags: Annotated[Tags | None, Answer("where `reasoning` is", is_apart=True)] = None
    """The opening and closing tags of the reasoning, if they are not `<think>` and `</think>`."""

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        yield from super().mistakes()
        if self.reasoning_tags and self.policy not in (STRIP, BUDGET):
            yield f"'reasoning_tags' is for 'reasoning: {STRIP}' and 'reasoning: {BUDGET}'"

    @property
    def reasoning(self) -> Reasoning:
        """The handling of the model's reasoning."""
        opening, closing = self.reasoning_tags or TAGS
        # YAML reads a bare off as false.
        policy = OFF if self.policy is False else self.policy
        return Reasoning(policy, getattr(self, "reasoning_tokens", None) or 0, (opening, closing))


class AskedModel(AskKeys, AnyModel):
    """A model that answers prompts."""

    has_roles: ClassVar[bool] = True
    context_window: Annotated[Count | None, Workflow("longer prompts are not sent; no prompt is truncated")] = None
    """Maximum number of tokens of prompt and answer together, or of the prompt alone for encoder-decoders. If omitted,
    it comes from the model's configuration, which has no limit for models with relative positions, such as Flan-T5.
    """
    tokens_per_second: Annotated[Positive | None, Workflow("for the estimate and a request to the cluster")] = None
    """Prompt tokens per second, instead of a measured or predicted rate. Used only for the hours of `snakemake
    estimate` and the time that a sweep requests from a cluster.
    """

    def answer_settings(self) -> dict:
        """Settings that change an answer, apart from the model, the prompt template's text and the decoding."""
        return {**self.of_role(Answer), **self.reasoning.settings()}

    def run_settings(self) -> dict:
        """Settings of the engine that change no answer."""
        return self.of_role(Run)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """An entry as its engine sees it, from JSON of `answer_settings` and `run_settings`.

        Each value has the type of its key. Keys that the class lacks are left out: they are of another engine, or the
        same for all models of one. Keys that no engine sees, such as those of the model's place, have their defaults.
        """
        fields = {key: cls.model_fields[name] for key, name in cls.keys.items() if key in settings}
        types: dict[str, Any] = {
            key: Annotated[info.annotation, *info.metadata]
            for key, info in fields.items()
            if isinstance(cls.roles[key], Answer | Run) and not cls.roles[key].is_apart
        }
        # Not strict: JSON has lists for tuples. The values were checked as an entry when the study was read.
        return cls.model_construct(**{key: TypeAdapter(types[key]).validate_python(settings[key]) for key in types})

    def trust(self) -> dict:
        """Permission to run the model's own code: {} for a model on a server."""
        return {}

    @property
    def not_measured(self) -> str | None:
        """Why the log-probability of a given answer is not measured with this model; None if it is."""
        if not engine_facts(self.engine).measures_log_probability:
            return f"engine {self.engine} cannot"
        return "its answers come after reasoning, which is not given" if self.reasoning.is_separate else None
