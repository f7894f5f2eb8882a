"""Why a response ended where it did."""

#: An end token, or the end of what the scorer reads.
STOP = "stop"
#: The limit of new tokens: the answer may be cut.
LENGTH = "length"
#: A provider's safety filter withheld the answer, cut it, or did not let the prompt pass: what there is of an answer is
#: scored and may be wrong for that reason alone. It is in the journal, because asking again would not help.
REFUSED = "refused"
#: The prompt does not fit the model's context: it was not asked, there is no answer.
OVERFLOW = "overflow"
#: It was asked, but no answer came (a server's failure, say): not scored, not in the journal, and so asked again
#: whenever the sweep runs again.
FAILED = "failed"
#: It was not asked here, and whoever recorded the responses has none to it: not scored.
NOT_RECORDED = "not_recorded"
#: A recorded response of which is not known whether it was cut.
UNKNOWN = "unknown"
