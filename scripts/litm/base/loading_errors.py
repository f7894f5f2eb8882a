"""Why a model or tokenizer could not be loaded; those that bring code of their own are not, so that they are data."""

#: What transformers says of a folder or repository whose `auto_map` names code, by which it asks whether to run it.
NEEDS_CODE = "contains custom code"
ELSEWHERE = "references custom code"


def first_line(error: Exception) -> str:
    """The first line of why something could not be loaded, without transformers' advice to run the model's code."""
    line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if NEEDS_CODE not in line and ELSEWHERE not in line:
        return line
    return (
        "it needs Python code of its own, which is never run here: use a model whose architecture transformers has, "
        "or let a server run it (engine: openai)"
    )
