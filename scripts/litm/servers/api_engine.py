"""Base class of API engines: keys, connections, requests and replies; the modules of `engines` add the protocols."""

import asyncio
import logging
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from litm.base.download import host_of, is_this_machine, public_url
from litm.base.messages import UserError, note
from litm.base.store import canonical_json
from litm.engines.interface import CHAT_ENDPOINT, Cached, Prepared, Provider, prepared
from litm.engines.served_models import ServedSettings
from litm.prompting.prompt_format import CHAT, PromptFormat, as_messages, load_tokenizer, text_of_chat
from litm.records.bills import Prices, Usage
from litm.records.examples import Content
from litm.records.price_table import looked_up
from litm.records.responses import MEASURED, OVERFLOW, REFUSED, UNKNOWN, Response, measured_answers, measured_response
from litm.records.served import made_with_server
from litm.records.tokens import answer_limit
from litm.servers.billing import Account
from litm.servers.caching import LEAST_CHARACTERS, Plan, plan
from litm.servers.cut_prompts import cut_at
from litm.servers.replies import ErrorInReply, Reply, Unusable, read_reply, refused_for
from litm.servers.retrying import (
    LONGEST_REASON,
    Patience,
    Refusal,
    Unanswered,
    as_they_finish,
    failure_of,
    in_step,
    masked,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


async def _read_as_utf8(response: Any) -> None:
    response.encoding = "utf-8"


def is_of_provider(url: str, provider: Provider) -> bool:
    """Whether the server belongs to the provider, as eu.api.openai.com does to api.openai.com."""
    host = host_of(provider.url)
    return host_of(url) == host or host_of(url).endswith(f".{host}")


def unused_variables(url: str, provider: Provider, key_variable: str | None) -> list[str]:
    """The environment variables of the provider's SDK that are ignored for a server, sorted.

    The variable with the provider's address is always ignored, because the config has the address. Variables that add
    an organisation, a project, headers or other credentials count for the provider's servers only. key_variable: the
    variable with the model's key.
    """
    if provider.variables is None:
        return []
    names = [name for name in sorted(os.environ) if name.startswith(provider.variables)]
    if is_of_provider(url, provider):
        return [name for name in names if name == f"{provider.variables}BASE_URL"]
    # Clients get their keys as arguments, and the SDK's log level sends nothing.
    return [name for name in names if name not in {provider.key_variable, key_variable, f"{provider.variables}LOG"}]


#: Placeholder key for own servers that need none, because the SDKs require one.
NO_KEY = "no-key"


def key_variable(base_url: str | None, own_variable: str | None, usual_variable: str | None) -> str | None:
    """The environment variable with a model's key: the one that its entry names, or else the provider's usual one.

    None for a provider that needs no key, and for an own server (`base_url`) without a named variable, which never gets
    the provider's key.
    """
    return own_variable or (None if base_url else usual_variable)


def api_key(settings: ServedSettings, usual_variable: str | None) -> str:
    """The key in the variable that `key_variable` names, `NO_KEY` without one.

    Raises `UserError` if the key is not set or cannot be sent.
    """
    variable = key_variable(settings.base_url, settings.api_key_variable, usual_variable)
    if variable is None:
        return NO_KEY
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UserError(
            f"{settings.location}: the environment variable {variable} has no key; nothing was asked. Set it, or name "
            "another one by the model's 'api_key_variable'"
        )
    if wrong := key_mistake(key):
        raise UserError(
            f"{settings.location}: the key in the environment variable {variable} {wrong}; nothing was asked"
        )
    return key


def key_mistake(key: str) -> str | None:
    """Why a text cannot be a key, without repeating it; None if it can. Keys are sent as an HTTP header."""
    if len(key.splitlines()) > 1:
        return "has more than one line: set it to one key alone"
    strange = next((place for place, char in enumerate(key, start=1) if not " " <= char <= "~"), None)
    if strange:
        return f"has a character (number {strange}) that is not plain ASCII: copy the key again"
    return None


def mask_logs(secret: str) -> None:
    """Mask a key in all later log lines of libraries: with `OPENAI_LOG` set, SDKs log what servers send."""

    def mask(record: logging.LogRecord) -> bool:
        record.msg, record.args = masked(record.getMessage(), secret), ()
        if record.exc_info:
            record.exc_text = masked(logging.Formatter().formatException(record.exc_info), secret)
        return True

    for handler in logging.getLogger().handlers:
        handler.addFilter(mask)


#: The field of a request that changes what a chat template writes.
TEMPLATE_ARGUMENTS = "chat_template_kwargs"


def counts_exactly(tokenizer: "PreTrainedTokenizerBase", provider: Provider, settings: ServedSettings) -> bool:
    """Whether `served_ids` are all tokens that the model reads, and not only those of the messages' texts."""
    is_known = provider.template_is_public and bool(tokenizer.chat_template)
    return settings.keys.endpoint != CHAT_ENDPOINT or (is_known and TEMPLATE_ARGUMENTS not in settings.keys.request)


def served_ids(
    tokenizer: "PreTrainedTokenizerBase", provider: Provider, settings: ServedSettings, contents: Sequence[Content]
) -> list[list[int]]:
    """The token ids of each prompt as a server's model reads it, or of the messages' texts if the chat template is
    unknown. tokenizer: of that model.
    """
    if settings.keys.endpoint != CHAT_ENDPOINT:
        return settings.form(tokenizer).encode(contents)
    if counts_exactly(tokenizer, provider, settings):
        return PromptFormat(tokenizer, CHAT).encode(contents)
    texts = ["".join(message["content"] for message in as_messages(content)) for content in contents]
    return [tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"] for text in texts]


def server_text(tokenizer: "PreTrainedTokenizerBase | None", settings: ServedSettings, content: Content) -> str:
    """The text that the server's tokenizer turns into `served_ids`."""
    if settings.prompt_template != CHAT:
        (text,) = settings.form(tokenizer).render([content])
        return text
    if tokenizer is None:
        raise UserError("prompt_template is 'chat' for the endpoint 'completions': set the model's 'tokenizer'")
    return text_of_chat(tokenizer, content)


#: Characters: shorter keys are not masked in answers, where they may be words (own servers are given "EMPTY", say).
LEAST_OF_A_KEY = 16


#: Bytes of a prompt's template for each message, at most as many as its tokens.
TEMPLATE_BYTES = 64
NOTHING = Usage(0, 0, 0, 0)
#: Statuses of requests with a field or a form that a server does not know.
NOT_KNOWN = (400, 422)
#: What gets the reply to a prompt from a client.
Ask = Callable[[Any, Prepared], Awaitable[Reply]]
#: Statuses of errors on what was sent.
OF_PROMPTS = (400, 413, 422)
#: Equal unusable responses to a prompt after which it is not sent again, unless the server has replied to another one.
SAME = 3


class ApiEngine(ABC):
    """Asks prompts concurrently, with retries, and checks that the server read each prompt whole.

    A protocol's engine defines its requests and how a reply is read. sdk: the package with the client; client_class:
    the class of its client; client_options: further arguments of that. An engine without an SDK has
    `connect`, for a client of httpx2, and `send` of its own.
    """

    provider: ClassVar[Provider]
    sdk: ClassVar[str] = "httpx2"
    client_class: ClassVar[str]
    client_options: ClassVar[Mapping[str, Any]] = {}
    #: Few servers report which tokens came from a cache.
    computed_tokens: int | None = None
    is_loading = False

    def __init__(self, settings: ServedSettings, patience: Patience | None = None, key: str | None = None) -> None:
        self.settings = settings
        self.patience = patience or Patience.from_settings(settings)
        # An engine that asks nothing needs none.
        self.key = api_key(settings, self.provider.key_variable) if key is None else key
        self.url = settings.base_url or self.provider.url
        self.software = f"{self.sdk} {version(self.sdk)}"
        self.tokenizer = load_tokenizer(settings.tokenizer) if settings.tokenizer else None
        self.counts_exactly = self.tokenizer is not None and counts_exactly(self.tokenizer, self.provider, settings)
        prices = settings.keys.prices and Prices.from_entry(settings.keys.prices)
        self.account = Account(prices or None, settings.keys.budget, settings.spent)
        self._is_caching = settings.keys.prompt_caching
        self._usage_is_missing = False
        self._unknown_ends: set[str] = set()
        self._is_read = False
        #: Characters and tokens of the prompts that were read, and the tokens to which the server cuts, once known.
        self._read: list[tuple[int, int]] = []
        self._cut_to: int | None = None
        self._mended = 0
        self._with_key = 0

    @abstractmethod
    def request(self, content: Content) -> tuple[str, dict[str, Any]]:
        """The path, relative to the server's address, and the body of a request."""

    @staticmethod
    @abstractmethod
    def read(body: dict[str, Any]) -> Reply:
        """What the body of a response says; LookupError, TypeError or AttributeError if it is none."""

    def connect(self) -> AbstractAsyncContextManager[Any]:
        """The SDK's client for the model's server, without the SDK's own retries.

        Redirects are not followed: the prompt would go to another server and its answer would count as this server's.
        Servers on this machine are reached without the environment's proxy. Bodies are read as UTF-8: a header may name
        another encoding or one that is not for text (hex), which makes the SDKs fail with arbitrary errors.
        """
        unused = unused_variables(self.url, self.provider, self.settings.api_key_variable)
        if unused:
            note(f"{public_url(self.url)}: not used for it, though set in the environment: {', '.join(unused)}")
        # SDKs read the environment when a client is created.
        hidden = {name: os.environ.pop(name) for name in unused}
        sdk = import_module(self.sdk)
        options: dict[str, Any] = {"follow_redirects": False, "event_hooks": {"response": [_read_as_utf8]}}
        if is_this_machine(self.url):
            options["mounts"] = dict.fromkeys(("http://", "https://", "all://"))
        try:
            return getattr(sdk, self.client_class)(
                api_key=self.key,
                base_url=self.url,
                max_retries=0,
                timeout=self.patience.timeout,
                http_client=sdk.DefaultAsyncHttpxClient(**options),
                **self.client_options,
            )
        finally:
            os.environ.update(hidden)

    async def _ask(self, client: Any, prompt: Prepared) -> Reply:
        """The answer to one prompt, for the provider's cache if that is planned, and without it if the server refuses
        it; errors as in `post`.
        """
        path, plain = self.request(prompt.content)
        body = self.for_cache(plain, prompt.cached) if prompt.cached and self._is_caching else plain
        try:
            return await self.post(client, path, body, self.read)
        except UserError as error:
            if getattr(error.__cause__, "status_code", None) not in NOT_KNOWN or body == plain:
                raise
            reply, reason = await self.post(client, path, plain, self.read), error
        if self._is_caching:
            self._is_caching = False
            note(f"{public_url(self.url)} refuses requests for its cache, so prompts are sent without them: {reason}")
        return reply

    def cached_text(self, body: Mapping[str, Any]) -> str | None:
        """The text of a request whose beginning is cached; None if that is not known."""
        return canonical_json([body.get(name) for name in ("messages", "prompt")])

    def for_cache(self, body: dict[str, Any], cached: Cached) -> dict[str, Any]:
        """The body of a request as it is planned for the provider's cache."""
        return body

    def plan(
        self, contents: Sequence[Content], tokens: Sequence[int | None], characters: int = LEAST_CHARACTERS
    ) -> Plan | None:
        """The plan of prompts for the provider's cache; None without one.

        tokens: of each prompt, None if unknown; characters: of a token then.
        """
        cache, model = self.provider.cache, self.settings.location
        if cache is None or not self.settings.keys.prompt_caching:
            return None
        usual = looked_up(model, self.provider.url)
        prices = Prices.from_entry(self.settings.keys.prices or cache.all_prices({"input": 1.0, "output": 1.0}, usual))
        if prices.cache_read >= prices.input:
            return None
        texts = [self.cached_text(self.request(content)[1]) for content in contents]
        cached = [text for text in texts if text is not None]
        if len(cached) < len(texts):
            return None
        counts = [len(text) // characters if size is None else size for text, size in zip(cached, tokens, strict=True)]
        return plan(cached, counts, cache, model, prices)

    async def post(
        self, client: Any, path: str, body: dict[str, Any], read: Callable[[dict[str, Any]], Reply]
    ) -> Reply:
        """The reply to one request; raises `Unanswered` or `UserError` if there is none.

        A prompt that is refused, see `refused_for`, counts as answered. The SDK does not read the response: it would
        make an answer with gaps of one that is cut.
        """
        try:
            content = await self.send(client, "post", path, body=body)
        except UserError as failure:
            error, response = failure.__cause__, getattr(failure.__cause__, "response", None)
            # An SDK's error has the body, that of an HTTP library only the response.
            error_body = getattr(error, "body", None) or getattr(response, "text", None)
            if getattr(response, "status_code", 0) in OF_PROMPTS and (refused := refused_for(error_body)):
                return refused
            raise
        try:
            return read_reply(content, read)
        except ErrorInReply as failure:
            if refused := refused_for(failure.error):
                return refused
            raise

    async def send(self, client: Any, method: str, path: str, **options: Any) -> bytes:
        """What the server sends in response; errors as in `post`. method: post or get; options: the SDK's."""
        import httpx2

        try:
            return (await getattr(client, method)(path, cast_to=httpx2.Response, **options)).content
        except import_module(self.sdk).APIError as error:
            raise failure_of(error, self.secret) from error

    @property
    def secret(self) -> str:
        """The key, "" if none is needed."""
        return "" if self.key == NO_KEY else self.key

    def prepare(self, contents: Sequence[Content], answers: Sequence[Sequence[str]] | None = None) -> list[Prepared]:
        """The prompts with their token ids, see `served_ids`, if the model's tokenizer is known; with those of their
        answers if these are measured.
        """
        if self.tokenizer is None:
            return [Prepared(content, None) for content in contents]
        if answers is not None:
            return prepared(self.settings.form(self.tokenizer), contents, answers)
        ids = served_ids(self.tokenizer, self.provider, self.settings, contents)
        return [Prepared(*pair) for pair in zip(contents, ids, strict=True)]

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Ask all prompts; those with a common prefix follow one another, for the server's cache.

        Yields answers as they come. Raises `UserError` as `as_they_finish` does, and if the server read another number
        of tokens than the prompt has.
        """
        planned = self.plan([prompt.content for prompt in prompts], [prompt.tokens for prompt in prompts])
        if planned:
            prompts = [replace(prompt, cached=planned.prompts[index]) for index, prompt in enumerate(prompts)]
        yield from self.with_notes(self.answers(prompts, self._ask, planned))

    def with_notes(self, answers: AsyncGenerator[Any, None]) -> Iterator[Any]:
        """Each of the answers as it comes; at the end a note says how many were changed, and how."""
        try:
            yield from in_step(answers)
        finally:
            if self._mended:
                cut = "lone surrogates or bytes that are not UTF-8 (cut characters)"
                note(f"{public_url(self.url)}: {self._mended} answers had {cut}: now U+FFFD")
            if self._with_key:
                note(f"{public_url(self.url)}: {self._with_key} answers repeat your key, where they now have ***")
            self._mended = self._with_key = 0

    def most_dollars(self, prompt: Prepared) -> float:
        """The most that a request can cost, see `Account.most`; a token has at least a byte."""
        _, body = self.request(prompt.content)
        messages = as_messages(prompt.content)
        tokens = sum(len(message["content"].encode(errors="replace")) + TEMPLATE_BYTES for message in messages)
        if prompt.tokens is not None and self.counts_exactly:
            tokens = prompt.tokens
        return self.account.most(tokens, answer_limit(body, self.settings.max_new_tokens)[0])

    async def answers(
        self, prompts: Sequence[Prepared], ask: Ask, planned: Plan | None = None
    ) -> AsyncGenerator[list[tuple[int, Response]], None]:
        """What `ask` gets for each prompt, as `generate` yields it."""
        by_text = sorted(range(len(prompts)), key=lambda index: canonical_json(prompts[index].content))
        order = planned.order if planned else by_text
        limits = (self.settings.keys.concurrency, self.patience, planned.after if planned else None)

        # Again for each attempt: one without an answer may have been billed.
        def refusal(index: int) -> Refusal | None:
            if self.settings.keys.budget is None:
                return None
            return self.account.refusal(index, self.most_dollars(prompts[index]))

        async with self.connect() as client:
            mask_logs(self.secret)

            unusable = Counter[tuple[int, str]]()

            async def send(index: int) -> Reply:
                try:
                    reply = await self._masked(ask(client, prompts[index]))
                except Unanswered as error:
                    self.account.settle(index, NOTHING if error.is_free else None)
                    unusable[index, str(error)] += isinstance(error, Unusable)
                    error.is_final = not self._is_read and unusable[index, str(error)] >= SAME
                    raise
                self._is_read = True
                self.account.settle(index, reply.billed)
                return reply

            async with aclosing(as_they_finish(send, order, *limits, refusal)) as batches:
                async for batch in batches:
                    for index, reply in batch:
                        self.look_for_cuts(prompts[index].content, reply.prompt_tokens)
                    yield [(index, self.response(prompts[index].tokens, reply)) for index, reply in batch]

    def look_for_cuts(self, content: Content, tokens: int | None) -> None:
        """Say once that the server cuts prompts, if its counts of tokens show it."""
        if self._cut_to is not None or not tokens:
            return
        self._read.append((sum(len(message["content"]) for message in as_messages(content)), tokens))
        # At 4, 8, 16, ... prompts: each time all are compared.
        count = len(self._read)
        if count >= 4 and count & (count - 1) == 0 and (limit := cut_at(*zip(*self._read, strict=True))):
            self._cut_to = limit
            note(
                f"{public_url(self.url)} cuts prompts: those of different lengths have {limit:,} tokens by its count. "
                "Their sizes will have no shape; raise its context length (num_ctx in Ollama, --max-model-len in "
                "vLLM), or set the model's 'context_window' and 'tokenizer' to leave out longer ones"
            )

    async def _masked(self, reply_to: Awaitable[Reply]) -> Reply:
        """A reply, within the time limit of a whole request, and with the key masked in everything that the server
        returns apart from the answer, because that is printed and recorded.
        """
        try:
            # HTTP clients limit only the time between two bytes, and a server may send blanks for ever.
            async with asyncio.timeout(self.patience.total):
                reply = await reply_to
        except TimeoutError:
            seconds = f"{self.patience.total:g} seconds"
            raise Unanswered(f"the answer was not whole after {seconds} ('request_total_timeout')") from None
        except Unanswered as error:
            error.args = (masked(str(error), self.secret)[:LONGEST_REASON],)
            raise
        except UserError as error:
            raise UserError(masked(str(error), self.secret)) from None
        return self.masked_reply(reply)

    def masked_reply(self, reply: Reply) -> Reply:
        """A reply with the key masked in it."""
        self._mended += reply.is_mended
        text = masked(reply.text, self.secret) if len(self.secret) >= LEAST_OF_A_KEY else reply.text
        self._with_key += text != reply.text
        served = None if reply.served is None else masked(reply.served, self.secret)
        return replace(reply, text=text, served=served, end=masked(repr(reply.end), self.secret)[:LONGEST_REASON])

    def response(self, tokens: int | None, reply: Reply, way: str = "") -> Response:
        """The response with this reply to a prompt of `tokens` tokens, None if unknown; `UserError` if the server read
        another number. way: how the server was asked, for `made_with`.
        """
        served = reply.served or self.settings.location
        made_with = made_with_server(f"{self.software}{way}", public_url(self.url), served)
        if reply.finish_reason == MEASURED:
            return measured_response(tokens or 0, measured_answers(reply.text), made_with)
        if reply.finish_reason == OVERFLOW:
            return Response(masked(reply.text, self.secret)[:LONGEST_REASON], OVERFLOW, tokens or 0, 0, made_with)
        if reply.finish_reason == UNKNOWN and reply.end not in self._unknown_ends:
            self._unknown_ends.add(reply.end)
            note(f"{public_url(self.url)}: it is not known whether answers that end with {reply.end} are cut")
        # No prompt has 0 tokens: some servers and proxies report it where they do not count.
        read = reply.prompt_tokens or None
        check_read_whole(tokens, read, self.counts_exactly)
        if read is None and reply.finish_reason != REFUSED and not self._usage_is_missing:
            how = "they are counted here, and" if self.tokenizer else "they are recorded as 0:"
            note(
                f"{public_url(self.url)} does not report tokens, or not as whole numbers: {how} whether it cut prompts "
                "is not known"
            )
            self._usage_is_missing = True
        # Whole, whatever the stop rule: the answer's end depends on the reasoning settings, which are not part of the
        # identity of a server's response. It is cut when responses are written (`Sweep.with_answers`).
        return Response(
            text=reply.text,
            finish_reason=reply.finish_reason,
            prompt_tokens=read or tokens or 0,
            response_tokens=reply.response_tokens or 0,
            made_with=made_with,
            billed=reply.billed and replace(reply.billed, batch=bool(way)),
        )


def check_read_whole(counted: int | None, reported: int | None, exact: bool) -> None:
    """Raise `UserError` if a server read another number of tokens than the prompt has (or fewer, if not `exact`).

    None is an unknown number.
    """
    if counted is None or reported is None or counted == reported or (counted < reported and not exact):
        return
    raise UserError(
        f"the server read {reported} tokens of a prompt that has {'' if exact else 'at least '}{counted} by the "
        "model's tokenizer: it cuts prompts without saying so, or uses another tokenizer or chat template. This answer "
        "was not kept. Raise the server's context length, or set the model's 'tokenizer' to the one that it uses"
    )
