"""The advice of a study of remedies in sentences."""

from litm.findings.record import Finding


def advice_sentences(finding: Finding) -> list[str]:
    """The advice for one model and study: what to do; then why; then what is not known. One short sentence each."""
    return [f"{finding.models[0]}: pass {finding.facts['condition']}."]
