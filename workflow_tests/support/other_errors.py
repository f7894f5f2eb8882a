"""What servers say of other mistakes than a prompt that is too long, in similar words."""

OTHER_ERRORS = (
    # More than a minute's tokens.
    "Request too large for model `llama-3.1-8b-instant` in organization `o` service tier `on_demand` on tokens per "
    "minute (TPM): Limit 6000, Requested 7054, please reduce your message size and try again.",
    "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000.",
    # A limit of the answer that no prompt makes right.
    "max_tokens is too large: 99999. This model supports at most 4096 completion tokens, whereas you provided 99999.",
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 1450 tokens "
    "and your request has 20 input tokens (2000 > 1450 - 20).",
    "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model",
    "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
    "max_tokens exceeds the limit of 8192",
    # Others.
    "You exceeded your current quota, please check your plan and billing details.",
    "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
    "Request payload size exceeds the limit: 20971520 bytes.",
    "Unrecognized request argument supplied: top_k",
    "Invalid value for 'temperature'",
    "The model `gpt-x` does not exist",
    "Your credit balance is too low to access the API.",
)
