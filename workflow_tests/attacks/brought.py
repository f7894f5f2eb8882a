"""What people bring: tables, documents, logs and servers as other programs write them."""

import brought_documents
import brought_doubts
import brought_metric
import brought_recorded
import brought_retrieved
import brought_servers
import brought_tables
from outcomes import Family

MODULES = (
    brought_tables,
    brought_metric,
    brought_recorded,
    brought_retrieved,
    brought_documents,
    brought_servers,
    brought_doubts,
)
FAMILY = Family(
    "brought",
    "The inputs are tables, documents, retrieved lists, logs and servers as other programs write them by default. Each "
    "is read as what it means, or one line refuses it or says what is doubtful.",
    [case for module in MODULES for case in module.CASES],
)
