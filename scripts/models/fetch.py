"""Download hub models into the local cache, each at its recorded commit.

sources: outputs of identify_model.py, one per model
"""

from litm.base.cli import program
from litm.base.json_files import read_json
from litm.base.messages import note
from litm.models.identity import download


@program
def main(sources: tuple[str, ...] = ()) -> None:
    for identity in (read_json(path)["identity"] for path in sources):
        # Models in folders need no download.
        if hub := identity.get("hub"):
            folder, count = download(hub, identity["commit"])
            note(f"{hub}: {count} files in {folder}")
    note("the cache has everything that the jobs need: run them with HF_HUB_OFFLINE=1")
