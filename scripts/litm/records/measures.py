"""What an experiment measures."""

#: The key of a decoding that generates nothing.
MEASURE = "measure"
#: What an experiment measures: answers that are generated, and the log-probability of the accepted ones.
ANSWER, LOG_PROBABILITY = "answer", "log_probability"
#: What a judge gives: its verdicts on the answers of a model to an experiment.
VERDICT = "verdict"
#: What a model gives that is asked about passages: questions, or answers that check them.
WRITING = "writing"
