"""What an experiment measures."""

#: The key of a decoding that generates nothing.
MEASURE = "measure"
#: What an experiment measures: answers that are generated, and the log-probability of the accepted ones.
ANSWER, LOG_PROBABILITY = "answer", "log_probability"
#: What a judge gives: its verdicts on the answers of a model to an experiment.
VERDICT = "verdict"
#: How a judge decodes: a word, with room for a reason after it, which is not read.
VERDICT_DECODING = {"max_new_tokens": 32, "stop": "first_line"}
#: What a model gives that is asked about passages: questions, or answers that check them.
WRITING = "writing"
