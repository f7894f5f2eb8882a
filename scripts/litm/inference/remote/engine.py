"""Base class of API engines; the modules of `litm.inference.engines` add the protocols."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from importlib.metadata import version
from typing import Any, ClassVar, TypeVar

from litm.base.download import public_url
from litm.base.messages import UserError, note
from litm.base.store import canonical_json
from litm.domain.example import Content
from litm.domain.finish_reason import REFUSED
from litm.domain.response import Response
from litm.domain.served import made_with_server
from litm.inference.engine import EngineSettings, Prepared, Provider, with_ids
from litm.inference.remote.connection import client_options, hidden_variables, unused_variables
from litm.inference.remote.failures import Unanswered, masked, masked_failure
from litm.inference.remote.keys import NO_KEY, api_key, mask_logs
from litm.inference.remote.prompt_tokens import ServedPrompts
from litm.inference.remote.replies import Reply
from litm.inference.remote.retrying import Patience, as_they_finish, in_step
from litm.prompting.tokenizer import load_tokenizer

T = TypeVar("T")
#: Characters: shorter keys are not masked in answers, where they may be words (own servers are given "EMPTY", say).
LEAST_OF_A_KEY = 16


class ApiEngine(ABC):
    """Asks prompts concurrently, with retries, and checks that the server read each prompt whole.

    A protocol's engine defines how to connect, the request and the reply. sdk: the distribution with the client.
    """

    provider: ClassVar[Provider]
    sdk: ClassVar[str]
    #: Few servers report which tokens came from a cache.
    computed_tokens: int | None = None
    is_loading = False

    def __init__(self, settings: EngineSettings, patience: Patience | None = None) -> None:
        self.settings = settings
        self.patience = patience or Patience.of(settings)
        self.key = api_key(settings, self.provider.key_variable)
        self.url = settings.base_url or self.provider.url
        self.software = f"{self.sdk} {version(self.sdk)}"
        self.tokenizer = load_tokenizer(settings.tokenizer) if settings.tokenizer else None
        self.served_prompts = self._served_prompts()
        self._usage_is_missing = False
        self._mended = 0
        self._with_key = 0

    @abstractmethod
    def connect(self) -> AbstractAsyncContextManager[Any]:
        """The SDK's client, made by `client`."""

    def client(self, sdk_client: Callable[..., T], http_client: Callable[..., Any], **more: Any) -> T:
        """A client for the model's server, without the SDK's own retries and with `client_options`.

        sdk_client, http_client: the SDK's classes; more: further arguments of its client.
        """
        return sdk_client(
            api_key=self.key,
            base_url=self.url,
            max_retries=0,
            timeout=self.patience.timeout,
            http_client=http_client(**client_options(self.url)),
            **more,
        )

    @property
    def secret(self) -> str:
        """The key, "" if none is needed."""
        return "" if self.key == NO_KEY else self.key

    @abstractmethod
    async def ask(self, client: Any, content: Content) -> Reply:
        """The answer to one request; raises `Unanswered` or `UserError` if there is none."""

    def _served_prompts(self) -> ServedPrompts | None:
        if self.tokenizer is None:
            return None
        settings = self.settings
        return ServedPrompts(
            self.tokenizer,
            self.provider,
            settings.endpoint,
            settings.prompt_template,
            settings.template,
            settings.request,
        )

    def prepare(self, contents: Sequence[Content]) -> list[Prepared]:
        """The prompts with their token ids, see `ServedPrompts.ids`, if the model's tokenizer is known."""
        if self.served_prompts is None:
            return [Prepared(content, None) for content in contents]
        return with_ids(contents, self.served_prompts.ids(contents))

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Ask all prompts; those with a common prefix follow one another, for the server's cache.

        Yields answers as they come. Raises `UserError` as `as_they_finish` does, and if the server read another number
        of tokens than the prompt has.
        """
        try:
            yield from in_step(self._answers(prompts))
        finally:
            if self._mended:
                cut = "lone surrogates or bytes that are not UTF-8 (cut characters)"
                note(f"{public_url(self.url)}: {self._mended} answers had {cut}: now U+FFFD")
            if self._with_key:
                note(f"{public_url(self.url)}: {self._with_key} answers repeat your key, where they now have ***")
            self._mended = self._with_key = 0

    async def _answers(self, prompts: Sequence[Prepared]) -> AsyncGenerator[list[tuple[int, Response]], None]:
        order = sorted(range(len(prompts)), key=lambda index: canonical_json(prompts[index].content))
        async with self._connect_with_what_counts() as client:

            async def send(index: int) -> Reply:
                return await self._ask_masked(client, prompts[index].content)

            batches = as_they_finish(send, order, self.settings.concurrency, self.patience)
            async with aclosing(batches):
                async for batch in batches:
                    self._mended += sum(reply.is_mended for _, reply in batch)
                    yield [(index, self._response(prompts[index], reply)) for index, reply in batch]

    def _connect_with_what_counts(self) -> AbstractAsyncContextManager[Any]:
        unused = unused_variables(self.url, self.provider, self.settings.api_key_variable)
        if unused:
            note(f"{public_url(self.url)}: not used for it, though set in the environment: {', '.join(unused)}")
        with hidden_variables(unused):
            client = self.connect()
        mask_logs(self.secret)
        return client

    async def _ask_masked(self, client: Any, content: Content) -> Reply:
        """`ask`, within the time limit of a whole request, and with the key masked in everything that the server
        returns apart from the answer, because that is printed and recorded.
        """
        try:
            # HTTP clients limit only the time between two bytes, and a server may send blanks for ever.
            async with asyncio.timeout(self.patience.total):
                reply = await self.ask(client, content)
        except TimeoutError:
            seconds = f"{self.patience.total:g} seconds"
            raise Unanswered(f"the answer was not whole after {seconds} ('request_total_timeout')") from None
        except (Unanswered, UserError) as error:
            raise masked_failure(error, self.secret) from None
        text = masked(reply.text, self.secret) if len(self.secret) >= LEAST_OF_A_KEY else reply.text
        self._with_key += text != reply.text
        return replace(reply, text=text, served=None if reply.served is None else masked(reply.served, self.secret))

    def _response(self, prompt: Prepared, reply: Reply) -> Response:
        is_exact = self.served_prompts is not None and self.served_prompts.are_exact
        check_read_whole(prompt.tokens, reply.prompt_tokens, is_exact)
        if reply.prompt_tokens is None and reply.finish_reason != REFUSED:
            self._note_missing_usage()
        # Whole, whatever the stop rule: the answer's end depends on the reasoning settings, which are not part of the
        # identity of a server's response. It is cut when responses are written (`Asking.with_answers`).
        return Response(
            text=reply.text,
            finish_reason=reply.finish_reason,
            prompt_tokens=reply.prompt_tokens or prompt.tokens or 0,
            response_tokens=reply.response_tokens or 0,
            made_with=made_with_server(self.software, public_url(self.url), reply.served or self.settings.location),
        )

    def _note_missing_usage(self) -> None:
        if not self._usage_is_missing:
            own = "they are counted here, and" if self.tokenizer else "they are recorded as 0:"
            note(
                f"{public_url(self.url)} does not report tokens, or not as whole numbers: {own} whether it cut prompts "
                "is not known"
            )
        self._usage_is_missing = True


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
