"""What becomes of a sweep whose prompts got no answer or do not fit."""

#: What becomes of a sweep where prompts got no answer: an error, or responses that say so (`FAILED`) and are counted.
STOP, COUNT = "stop", "count"
#: What becomes of a sweep with prompts that do not fit: their questions are left out and counted, or it is an error.
LEAVE_OUT, FAIL = "leave_out", "fail"
