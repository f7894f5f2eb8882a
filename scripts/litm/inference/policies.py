"""Policies of a sweep for prompts without an answer and prompts that do not fit."""

#: on_failure, for prompts without an answer: stop with an error, or record them as `FAILED` and count them.
STOP, COUNT = "stop", "count"
#: on_overflow, for prompts that do not fit: leave their questions out and count them, or stop with an error.
LEAVE_OUT, FAIL = "leave_out", "fail"
