"""Identity of a sweep: everything that defines a response, except the prompt."""


def sweep_identity(source: dict, model: dict, template: str | dict | None, decoding: dict) -> dict:
    """The identity of a sweep: everything that defines an answer, except the prompt.

    source: `folder_identity`, `hub_identity` or `api_identity`; model: the settings that change answers (dtype,
    attention, ...); template: the text of the prompt template, if the model has one, or `chat_identity` for a server's
    chats that are rendered here; decoding: limit of new tokens, stop rule.
    """
    return {"source": source, "model": model, "template": template, "decoding": decoding}
