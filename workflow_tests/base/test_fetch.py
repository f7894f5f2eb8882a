"""Remote files: mirror first, never unchecked."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from waiting import HANG

from litm.base import download
from litm.base.download import fetch
from litm.base.messages import UserError

DATA = b"some data"
SUM = hashlib.sha256(DATA).hexdigest()


def url_of(path: Path) -> str:
    return path.as_uri()


def test_a_file_in_the_mirror_is_taken_by_its_base_name(tmp_path):
    (tmp_path / "mirror" / "inside").mkdir(parents=True)
    (tmp_path / "mirror" / "inside" / "file.gz").write_bytes(DATA)
    source = fetch("https://nowhere.invalid/other.gz", SUM, str(tmp_path / "mirror"), tmp_path / "out" / "file.gz")
    assert source == str(tmp_path / "mirror" / "inside" / "file.gz")
    assert (tmp_path / "out" / "file.gz").read_bytes() == DATA


def blob_id(data: bytes) -> str:
    """As `git hash-object` has it."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def test_a_file_may_have_a_git_blob_id_instead_of_a_sha256(tmp_path):
    (tmp_path / "remote.gz").write_bytes(b"hello\n")
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
    fetch(url_of(tmp_path / "remote.gz"), blob_id(b"hello\n"), None, tmp_path / "file.gz")
    with pytest.raises(UserError, match=f"its git blob id is ce0136.*, but must be {blob_id(DATA)}"):
        fetch(url_of(tmp_path / "remote.gz"), blob_id(DATA), None, tmp_path / "file.gz")


def test_of_two_versions_of_one_name_in_a_mirror_that_with_the_right_sum_is_taken(tmp_path):
    for folder, data in (("a", b"v2"), ("b", b"v1")):
        (tmp_path / "mirror" / folder).mkdir(parents=True)
        (tmp_path / "mirror" / folder / "f.gz").write_bytes(data)
    url, mirror = "https://nowhere.invalid/repo/f.gz", str(tmp_path / "mirror")
    # It has a name of its own here, because of the other version.
    assert fetch(url, blob_id(b"v1"), mirror, tmp_path / "f.v1.gz") == f"{mirror}/b/f.gz"
    assert fetch(url, hashlib.sha256(b"v2").hexdigest(), mirror, tmp_path / "f.gz") == f"{mirror}/a/f.gz"
    with pytest.raises(UserError, match=f"^{mirror}/a/f.gz: its sha256 is .*; this is not the expected file"):
        fetch(url, SUM, mirror, tmp_path / "f.gz")


def test_a_file_that_is_not_in_the_mirror_is_downloaded(tmp_path):
    (tmp_path / "remote.gz").write_bytes(DATA)
    (tmp_path / "mirror").mkdir()
    fetch(url_of(tmp_path / "remote.gz"), SUM, str(tmp_path / "mirror"), tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == DATA


def test_a_wrong_sum_names_both_and_leaves_no_file(tmp_path):
    (tmp_path / "remote.gz").write_bytes(b"other data")
    with pytest.raises(UserError) as caught:
        fetch(url_of(tmp_path / "remote.gz"), SUM, None, tmp_path / "out" / "file.gz")
    assert SUM in str(caught.value) and hashlib.sha256(b"other data").hexdigest() in str(caught.value)
    assert not list((tmp_path / "out").iterdir())


def test_a_failed_download_says_what_to_do(tmp_path):
    with pytest.raises(UserError, match=r"download failed .* put file.gz into a folder and set data_mirror to it"):
        fetch(url_of(tmp_path / "missing.gz"), SUM, None, tmp_path / "file.gz")


@contextmanager
def server(send: Callable[[BaseHTTPRequestHandler, threading.Event], None]) -> Iterator[str]:
    """A file's address on a server that answers each request by `send`, which ends when the event is set."""
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(OSError):
                send(self, closing)

        def log_message(self, *words: object) -> None:
            """Nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads, http.block_on_close = True, False
    threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/file.gz"
    finally:
        closing.set()
        http.shutdown()
        http.server_close()


@pytest.mark.parametrize(
    ("head", "body", "said"),
    [
        (b"Content-Length: 12000\r\n", b"x" * 5000, "it was cut: 5,000 of 12,000 bytes came"),
        (b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\nff\r\nabc", "it was cut: .* there are more"),
    ],
)
def test_a_download_that_is_cut_is_called_so_with_the_bytes_that_came(head, body, said, tmp_path):
    answer = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body
    line = rf"download failed \({said}\); run the same command again"
    with server(lambda handler, _: handler.wfile.write(answer)) as url, pytest.raises(UserError, match=line):
        fetch(url, SUM, None, tmp_path / "out" / "file.gz")
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("head", "sign", "limit", "said"),
    [
        (
            *(b"Content-Length: 99999\r\n\r\n", b" ", "SPEED_SECONDS"),
            r"too slow: \d+ bytes in the last \d+ seconds, \d+ in all",
        ),
        # The second where this machine is busy, and no byte comes for so long.
        (b"", b"X-Wait: 1\r\n", "TIMEOUT_SECONDS", "no answer within 0.5 seconds|timed out"),
    ],
)
def test_a_download_that_never_ends_though_bytes_come_is_given_up(head, sign, limit, said, tmp_path, monkeypatch):
    def drip(handler: BaseHTTPRequestHandler, closing: threading.Event) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + head)
        while not closing.wait(0.05):
            handler.wfile.write(sign)

    monkeypatch.setattr(download, "TIMEOUT_SECONDS", HANG)
    monkeypatch.setattr(download, limit, 0.5)
    with server(drip) as url, pytest.raises(UserError, match=rf"download failed \(({said})"):
        fetch(url, SUM, None, tmp_path / "file.gz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("seconds", "is_fast"), [(20, True), (70, True), (1000, False)])
def test_a_fast_download_may_take_longer_than_the_interval_of_the_speed_check(seconds, is_fast, tmp_path, monkeypatch):
    blocks = 4
    (tmp_path / "remote.gz").write_bytes(data := bytes(blocks * download.BLOCK))
    clock = SimpleNamespace(monotonic=count(step=seconds / blocks).__next__)
    monkeypatch.setattr(download, "time", clock)
    with nullcontext() if is_fast else pytest.raises(UserError, match="too slow: 1,048,576 bytes"):
        fetch(url_of(tmp_path / "remote.gz"), hashlib.sha256(data).hexdigest(), None, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").exists() == is_fast
