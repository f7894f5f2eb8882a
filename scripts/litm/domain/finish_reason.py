"""Finish reasons: why a response ended where it did."""

#: An end token, or the end of the text that the scorer reads.
STOP = "stop"
#: The limit of new tokens: the answer may be cut.
LENGTH = "length"
#: A provider's safety filter withheld or cut the answer, or blocked the prompt. The partial answer is scored, and may
#: be wrong for that reason alone. It is journalled, because asking again would not help.
REFUSED = "refused"
#: The prompt does not fit the context window: it was not asked.
OVERFLOW = "overflow"
#: The prompt was asked but got no answer (a server's failure, say): not scored and not journalled, so every new run of
#: the sweep asks it again.
FAILED = "failed"
#: The prompt was not asked here, and the recorded responses have none to it: not scored.
NOT_RECORDED = "not_recorded"
#: A recorded response that may or may not have been cut.
UNKNOWN = "unknown"
