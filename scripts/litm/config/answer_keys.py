"""What an answer is an answer of: which keys of the configuration and which files are in the keys of journals.

A page of the documentation, made of these tables; tests compare them with what changing each of them does.
"""

from collections.abc import Iterator, Mapping

from litm.models.files import NOT_READ, PARTS

#: Keys of a model's entry that are part of the key of its answers, and how.
MODEL_KEY = {
    "engine": "its name",
    "hub": "the name, and the commit that `revision` stands for when the model is identified",
    "revision": "by the commit that it stands for",
    "tokenizer": "the sha256 of the file",
    "config": "as it is written",
    "trust_remote_code": "where it is true; the code by the hashes of its files, or by the commit",
    "dtype": "as it is written; `auto` shares answers with the format that the weights are stored in "
    "(`engine: transformers`, not quantised)",
    "quantization": "as it is written, left out if `none`",
    "attention": "as it is written",
    "prompt_template": "the name, left out or written, and the text of a named one; a chat template is in the files of "
    "the model",
    "reasoning": "where it changes what is generated: `off`, `budget`, and `strip` with `stop: first_line`",
    "reasoning_tags": "where `reasoning` is",
    "reasoning_tokens": "as it is written",
}
MODEL_NOT = {
    "path": "what is in the folder, or the GGUF file, is part of the key, and not where it is",
    "package": "as `path`",
    "about": "facts for the table of claims",
    "on_failure": "what becomes of a prompt without an answer",
    "context_window": "a prompt beyond it is not asked; no prompt is cut",
    "device": "where it is computed; the audit asks whether that matters",
    "gpus": "as `device`",
    "shards": "who asks",
    "batch_tokens": "how many at a time; the audit asks whether that matters",
    "threads": "how fast",
    "tokens_per_second": "for the estimate",
    "parameters": "for the memory of a job",
    "gpu_model": "what a cluster is asked for",
    "mem_mb": "what a cluster is asked for",
    "runtime": "what a cluster is asked for",
}
#: The same of a model that a server runs.
API_KEY = {
    "engine": "its name",
    "api_model": "the server's name for the model",
    "revision": "your word for what the server has",
    "base_url": "unless there is a `revision`; not a final slash, the protocol's port, or `localhost` for `127.0.0.1`",
    "endpoint": "as it is written",
    "request": "the fields that are sent; written out or not is the same (`temperature: 0`, the limit of an answer)",
    "prompt_template": "with `endpoint: completions`: the name, the text of a named one, and of `chat` the tokenizer's "
    "chat template with the special tokens in it",
}
API_NOT = {
    "tokenizer": "it counts tokens; where it makes chats (`completions`, `chat`) its chat template is part of the key",
    "reasoning": "replies are kept whole, and cut when responses are written",
    "reasoning_tags": "as `reasoning`",
    "about": "facts for the table of claims",
    "on_failure": "what becomes of a prompt without an answer",
    "context_window": "a prompt beyond it is not asked; no prompt is cut",
    "tokens_per_second": "for the estimate",
    "prices": "for the estimate",
    "api_key_variable": "who pays",
    "concurrency": "how many at a time",
    "request_timeout": "how long a request may take",
    "request_total_timeout": "how long a request may take",
    "request_attempts": "how often a request is sent again",
}
#: Keys of an experiment that are part of it, or change the text of a prompt, which is the other part of the key.
EXPERIMENT_KEY = {
    "max_new_tokens": "as it is written",
    "stop": "as it is written",
    "task": "by the prompts",
    "positions": "by the prompts",
    "depths": "by the prompts",
    "tokens_of": "by the prompts",
    "sizes": "by the prompts",
    "dataset": "by the prompts",
    "examples": "by the prompts: more of them ask only the new ones",
    "selection": "by the prompts",
    "subset": "by the prompts",
    "distractor_order": "by the prompts",
    "order": "by the prompts",
    "rerank": "by the prompts",
    "cut": "by the prompts",
    "design": "by the prompts",
    "prompt": "by the prompts",
}
EXPERIMENT_NOT = {
    "title": "for figures",
    "closed_book": "what it is compared with",
    "oracle": "what it is compared with",
    "query_aware_of": "what it is compared with",
    "compared_with": "what it is compared with",
    "remedies": "which other experiments there are",
    "cluster": "how intervals are made",
    "metric": "how answers are judged",
    "on_overflow": "what becomes of prompts that do not fit",
}
#: Keys of a dataset: the content of its file makes prompts.
DATASET_KEY = {"labels": "how the file is read, by the prompts"}
DATASET_NOT = {
    "path": "what is in the file makes the prompts, and not where it is",
    "url": "where the file comes from",
    "sha256": "the file must have it",
    "git_blob": "as `sha256`",
    "other_versions": "what an experiment takes instead, by the prompts of that",
    "version": "for the comparison with published values",
    "file": "the file's name here",
}
TABLES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "A model that runs here": (MODEL_KEY, MODEL_NOT),
    "A model that a server runs": (API_KEY, API_NOT),
    "An experiment": (EXPERIMENT_KEY, EXPERIMENT_NOT),
    "A dataset": (DATASET_KEY, DATASET_NOT),
}
PAGE_HEADER = """# What an answer is an answer of

<!-- Written by `make reference` from scripts/litm/config/answer_keys.py and scripts/litm/models/files.py. -->

An answer is kept in a journal under a key: the sha256 of the prompt, and of all else that defines an answer, its
identity. It is found there by whoever asks the same, whatever the experiment and the model are called in the config,
as all of `results/journal/` is looked through for what a sweep's own journal lacks. Change something that is part of
either and the prompts are asked again; change back, and the first answers are found. What is no part of it changes no
answer. Tests change each of these keys and files and compare. The identity of a sweep is in its manifest
(`identity_fields`), and the log says which field has changed when prompts are asked again.

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
    yield "The sha256 of a GGUF file; of a model's folder that of each file of these names, and of the weights that an"
    yield "index names:\n"
    yield ", ".join(f"`{pattern}`" for pattern in PARTS) + "\n"
    yield "but not of these, which nothing reads to answer:\n"
    yield ", ".join(f"`{pattern}`" for pattern in NOT_READ) + "\n"
    yield "A model of the hub is its commit; a file of it that was edited in the local cache ends the job."
    yield "Datasets, prompt files, documents, labels, recorded responses and code are no part of the key: they change"
    yield "the prompts, or what is done with answers. The workflow compares their contents: see"
    yield "[what_re_runs_when.md](what_re_runs_when.md).\n"
    yield "A line of `results/responses` also has the sha256 of the prompt alone, before any prompt template"
    yield "(`prompt_sha256`), which is the same for every model: recorded responses are taken for no other prompt, and"
    yield "`score` refuses a response that was made for another prompt than the example has."
