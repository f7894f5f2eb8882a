"""Base class of engines that run a model in this process."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from litm.base.messages import note
from litm.inference.engine import EngineSettings, Prepared, with_ids
from litm.models.configuration import load_config
from litm.models.files import check_safe_weights
from litm.prompting.prompt_format import encode_prompts, model_tokenizer
from litm.records import Content, Response

if TYPE_CHECKING:
    from litm.inference.stopping import Ending


class LocalEngine:
    """Reads a model's configuration and tokenizer, and turns its token ids into responses.

    computed_tokens: prompt tokens computed so far; is_loading: whether the weights are still to be loaded.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        if settings.trust_remote_code:
            note(f"{settings.location}: trust_remote_code is true: code that comes with the model runs")
        self.config = load_config(settings.location, settings.revision, settings.config, settings.trust_remote_code)
        check_safe_weights(settings.location, settings.revision)
        self.check_model()
        self.tokenizer = model_tokenizer(
            settings.tokenizer or settings.location,
            settings.revision,
            settings.prompt_template,
            settings.reasoning,
            settings.trust_remote_code,
        )
        self.computed_tokens = 0
        self.is_loading = True

    def check_model(self) -> None:
        """Raise `UserError` if the engine does not support the model, by its configuration."""

    def prepare(self, contents: Sequence[Content]) -> list[Prepared]:
        """Each prompt in the model's template, with its token ids."""
        settings = self.settings
        return with_ids(contents, encode_prompts(self.tokenizer, settings.prompt_template, settings.template, contents))

    def end_tokens(self, own: int | Sequence[int] | None) -> list[int]:
        """All ids that end an answer: the model's `own` and the tokenizer's end of text."""
        ids = {*([own] if own is None or isinstance(own, int) else own), self.tokenizer.eos_token_id}
        return sorted(id for id in ids if id is not None)

    def responses(
        self,
        prompts: Sequence[Sequence[int]],
        batch: Iterable[int],
        outputs: Iterable[Sequence[int]],
        end_tokens: Sequence[int],
        ending: "Ending",
        made_with: str,
    ) -> list[tuple[int, Response]]:
        """The responses of a batch as (index of the prompt, response): its outputs, cut at their ends, as texts.

        prompts: token ids of all prompts; batch: indices of those that were answered; outputs: new token ids of each,
        possibly with further tokens after the end.
        """
        from litm.inference.stopping import cut_response

        answers = [
            (index, *cut_response(output, end_tokens, ending, prompts[index]))
            for index, output in zip(batch, outputs, strict=True)
        ]
        texts = self.tokenizer.batch_decode(
            [ids for _, ids, _ in answers], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return [
            (index, Response(text, finish_reason, len(prompts[index]), len(ids), made_with))
            for (index, ids, finish_reason), text in zip(answers, texts, strict=True)
        ]
