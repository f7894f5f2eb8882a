"""The key of an answer: the keys of the configuration and the files that belong to it.

docs/answers.md is written from these tables. Tests change each key and file and compare the effect.
"""

from collections.abc import Iterator, Mapping

from litm.models.files import NOT_READ, PARTS

#: Keys of a model's entry that are part of an answer's key, each with the part it contributes.
MODEL_KEY = {
    "engine": "its name",
    "hub": "the name, and the commit that `revision` stands for when the model is identified",
    "revision": "by the commit that it stands for",
    "tokenizer": "the sha256 of the file",
    "config": "as it is written",
    "trust_remote_code": "if it is true; the code by the hashes of its files, or by the commit",
    "dtype": "the format of the computation, written or taken by the machine for `auto`",
    "quantization": "as it is written, left out if `none`",
    "attention": "as it is written",
    "prompt_template": "the name, left out or written, and the text of a named one; a chat template is in the files of "
    "the model",
    "reasoning": "if it changes the generated text: `off`, `budget`, and `strip` with `stop: first_line`",
    "reasoning_tags": "where `reasoning` is",
    "reasoning_tokens": "as it is written",
}
MODEL_NOT = {
    "path": "the content of the folder or the GGUF file is part of the key, its place is not",
    "package": "as `path`",
    "about": "facts for the table of claims",
    "on_failure": "how prompts without an answer are handled",
    "context_window": "longer prompts are not asked; no prompt is cut",
    "device": "the place of the computation; the audit measures its effect",
    "gpus": "as `device`",
    "shards": "the job that asks",
    "batch_tokens": "the number of prompts at a time; the audit measures its effect",
    "threads": "the speed",
    "tokens_per_second": "for the estimate and a request to the cluster",
    "parameters": "for the memory of a job",
    "gpu_model": "a request to the cluster",
    "mem_mb": "a request to the cluster",
    "runtime": "a request to the cluster",
}
#: The same for a model on a server.
API_KEY = {
    "engine": "its name",
    "api_model": "the server's name for the model",
    "revision": "your name for the version on the server",
    "base_url": "if there is no `revision`; a final slash, the protocol's port, and `localhost` for `127.0.0.1` make "
    "no difference",
    "endpoint": "as it is written",
    "request": "the fields that are sent; a default that is written out makes no difference (`temperature: 0`, the "
    "answer's limit)",
    "prompt_template": "with `endpoint: completions`: the name, the text of a named template, and for `chat` the "
    "tokenizer's chat template with its special tokens",
}
API_NOT = {
    "tokenizer": "it counts tokens; if it formats chats (`completions`, `chat`), its chat template is part of the key",
    "reasoning": "replies are kept whole; the reasoning is cut off when responses are written",
    "reasoning_tags": "as `reasoning`",
    "about": "facts for the table of claims",
    "on_failure": "how prompts without an answer are handled",
    "context_window": "longer prompts are not asked; no prompt is cut",
    "tokens_per_second": "for the estimate and a request to the cluster",
    "prices": "for the estimate",
    "api_key_variable": "the account that pays",
    "concurrency": "the number of requests at a time",
    "request_timeout": "the time limit of a request",
    "request_total_timeout": "the time limit of a request",
    "request_attempts": "the number of attempts",
}
#: Keys of an experiment that are part of an answer's key, directly or by the text of the prompt.
EXPERIMENT_KEY = {
    "max_new_tokens": "as it is written",
    "stop": "as it is written",
    "task": "by the prompts",
    "positions": "by the prompts",
    "depths": "by the prompts",
    "tokens_of": "by the prompts",
    "sizes": "by the prompts",
    "dataset": "by the prompts",
    "examples": "by the prompts; a larger number asks only the new ones",
    "selection": "by the prompts",
    "subset": "by the prompts",
    "distractor_order": "by the prompts",
    "order": "by the prompts",
    "rerank": "by the prompts",
    "cut": "by the prompts",
    "design": "by the prompts",
    "wording": "by the prompts",
    "prompt": "by the prompts",
}
EXPERIMENT_NOT = {
    "title": "for figures",
    "closed_book": "for comparisons",
    "oracle": "for comparisons",
    "query_aware_of": "for comparisons",
    "compared_with": "for comparisons",
    "remedies": "defines further experiments",
    "cluster": "for intervals and tests",
    "metric": "the judgement of answers",
    "on_overflow": "how prompts that do not fit are handled",
}
#: Keys of a dataset that are part of an answer's key: the content of its file makes prompts.
DATASET_KEY = {"labels": "by the prompts: the format of the file"}
DATASET_NOT = {
    "path": "the content of the file makes the prompts, its place does not matter",
    "url": "the origin of the file",
    "sha256": "a check of the file",
    "git_blob": "as `sha256`",
    "other_versions": "by the prompts of the dataset that replaces this one",
    "version": "for the comparison with published values",
    "file": "the file's name here",
}
TABLES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "A model that runs here": (MODEL_KEY, MODEL_NOT),
    "A model that a server runs": (API_KEY, API_NOT),
    "An experiment": (EXPERIMENT_KEY, EXPERIMENT_NOT),
    "A dataset": (DATASET_KEY, DATASET_NOT),
}
PAGE_HEADER = """# The key of an answer

<!-- Written by `make reference` from scripts/litm/config/answer_keys.py and scripts/litm/models/files.py. -->

A journal keeps each answer under a key: the sha256 of the prompt and of the identity, which is all else that defines
the answer. A sweep searches its own journal and then all of `results/journal/`, so equal prompts share their answers
under any names of experiment and model. A change of any part of the key asks the prompts again; undo the change, and
the first answers are found again. Everything else changes no answer. Tests change each of these keys and files and
compare. A sweep's manifest has its identity (`identity_fields`), and the log names the changed field when prompts are
asked again.

Identities that are written differently and mean the same share their answers: `localhost` and `127.0.0.1`, an address
with and without a final slash, 0 and 0.0, defaults that are written out.
"""


def answer_keys_page() -> str:
    """The page in Markdown."""
    return "\n".join([PAGE_HEADER, *_tables(), *_files()])


def _tables() -> Iterator[str]:
    for title, (part, apart) in TABLES.items():
        yield f"## {title}\n\n| key | part of the key of an answer | |\n|---|---|---|"
        for is_part, keys in (("yes", part), ("no", apart)):
            yield from (f"| `{key}` | {is_part} | {text} |" for key, text in keys.items())
        yield ""


def _files() -> Iterator[str]:
    yield "## Files\n"
    yield "Part of the key: the sha256 of a GGUF file; for a model's folder, the sha256 of each file with one of these"
    yield "names, and of the weights that an index names:\n"
    yield ", ".join(f"`{pattern}`" for pattern in PARTS) + "\n"
    yield "Not part of the key, as these files change no answer:\n"
    yield ", ".join(f"`{pattern}`" for pattern in NOT_READ) + "\n"
    yield "A model of the hub is identified by its commit; a file that was edited in the local cache ends the job. This"
    yield "needs the links of the cache: if it was copied without them (`cp -L`, `scp -r`), a line says that nothing is"
    yield "checked. A model folder with an adapter (`adapter_config.json`) or with `transformers_weights` in its"
    yield "configuration is refused: the model would depend on the installed packages, or on a file that is not part of"
    yield "the key."
    yield "Datasets, prompt files, documents, labels, recorded responses and code are not part of the key: they change"
    yield "the prompts, or the use of the answers. The workflow compares their contents: see"
    yield "[what_re_runs_when.md](what_re_runs_when.md).\n"
    yield "A line of `results/responses` also has the sha256 of the prompt alone, before any prompt template"
    yield "(`prompt_sha256`). It is the same for every model: recorded responses are used for this prompt only, and"
    yield "`score` refuses a response to another prompt than the example has, and responses of another model or with"
    yield "other settings than those of the study."
