"""Remote files: mirror first, never unchecked; addresses: their secrets, and those of this machine."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import count
from types import SimpleNamespace

import pytest
from local_http import Handler, Served
from waiting import HANG

from litm.base import download
from litm.base.cli import run
from litm.base.download import check_has_no_password, fetch, is_this_machine
from litm.base.messages import UserError, note, without_passwords

DATA = b"some data"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def blob_id(data: bytes) -> str:
    """As `git hash-object` has it."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


SUM = sha256(DATA)
NOWHERE = "https://nowhere.invalid"


SECRET = ["http://user:pw-canary@host/v1", "https://pw-canary@host:8000/file.gz", "http://user:@pw-canary@host/"]


@pytest.mark.parametrize("url", [*SECRET, "ftp://user:pw-canary/half@host/file.gz"])
def test_a_password_in_an_address_is_refused_and_masked_in_all_messages(url, capsys):
    with pytest.raises(ValueError, match="a user or a password") as refusal:
        check_has_no_password(url)
    assert "canary" not in str(refusal.value)
    assert without_passwords(f"no luck with {url} today").endswith(" today")

    def fails() -> None:
        note(f"asking {url} now")
        raise UserError(f"{url}: no")

    with pytest.raises(SystemExit) as end:
        run(fails)
    said = f"{end.value.code} {capsys.readouterr().err}"
    assert "canary" not in said and said.count("://***@host") == 2


@pytest.mark.parametrize(
    "path", ["http://host/v1", "https://host:8000/a@b", "http://[::1]:8000/v1", "file:///f/n@2.gz"]
)
def test_an_address_without_a_password_stays_as_it_is(path):
    assert check_has_no_password(path) == path
    assert without_passwords(f"see {path}, or {path}") == f"see {path}, or {path}"


def test_this_machine_has_these_addresses():
    own = ("http://localhost:8000/v1", "http://127.0.0.1/v1", "http://127.3.2.1:1/v1", "http://[::1]:8000/v1")
    others = ("http://10.0.0.1/v1", "https://localhost.evil.org/v1", "https://api.openai.com/v1", "file:///x")
    assert [one for one in (*own, *others) if is_this_machine(one)] == [*own]


@pytest.mark.parametrize(
    ("files", "url", "name", "checksum", "origin"),
    [
        ({"m/in/f.gz": DATA}, f"{NOWHERE}/other.gz", "f.gz", SUM, "m/in/f.gz"),
        # Two versions of one name: that with the right sum; the older has a name of its own here.
        ({"m/a/f.gz": b"v2", "m/b/f.gz": b"v1"}, f"{NOWHERE}/f.gz", "f.v1.gz", blob_id(b"v1"), "m/b/f.gz"),
        ({"m/a/f.gz": b"v2", "m/b/f.gz": b"v1"}, f"{NOWHERE}/f.gz", "f.gz", sha256(b"v2"), "m/a/f.gz"),
        ({"m/a/f.gz": DATA, "m/f.gz": DATA}, f"{NOWHERE}/f.gz", "f.gz", SUM, "m/f.gz"),
        ({"remote.gz": DATA, "m/other.gz": DATA}, "remote.gz", "f.gz", SUM, "remote.gz"),
        ({"remote.gz": b"hello\n"}, "remote.gz", "f.gz", "ce013625030ba8dba906f756967f9e9ca394464a", "remote.gz"),
    ],
)
def test_a_file_comes_from_the_mirror_by_its_base_name_or_from_its_address(
    files, url, name, checksum, origin, tmp_path
):
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    url = url if url.startswith(NOWHERE) else (tmp_path / url).as_uri()
    found = fetch(url, checksum, str(tmp_path / "m"), tmp_path / "out" / name)
    assert found == (str(tmp_path / origin) if origin.startswith("m") else url)
    assert (tmp_path / "out" / name).read_bytes() == files[origin]


@pytest.mark.parametrize(
    ("data", "checksum", "said"),
    [
        (b"other", SUM, f"its sha256 is {sha256(b'other')}, but must be {SUM}; this is not the expected file"),
        (b"hello\n", blob_id(DATA), f"its git blob id is ce0136.*, but must be {blob_id(DATA)}"),
        (None, SUM, r"download failed .* put file.gz into a folder and set data_mirror to it"),
    ],
)
def test_a_file_that_is_wrong_or_missing_is_one_line_and_is_not_left(data, checksum, said, tmp_path):
    remote, mirror = tmp_path / "remote.gz", tmp_path / "m"
    if data is not None:
        remote.write_bytes(data)
    with pytest.raises(UserError, match=f"^{remote.as_uri()}: {said}"):
        fetch(remote.as_uri(), checksum, None, tmp_path / "out" / "file.gz")
    assert not list((tmp_path / "out").iterdir())
    if data is not None:
        mirror.mkdir()
        remote.rename(mirror / "file.gz")
        with pytest.raises(UserError, match=f"^{mirror}/file.gz: {said}"):
            fetch(remote.as_uri(), checksum, str(mirror), tmp_path / "out" / "file.gz")


@contextmanager
def server(send: Callable[[Handler, threading.Event], None]) -> Iterator[str]:
    """A file's address on a server that answers each request by `send`, which ends when the event is set."""
    closing = threading.Event()

    class Sender(Handler):
        def do_GET(self) -> None:
            self.close_connection = True
            with suppress(OSError):
                send(self, closing)

    with Served(Sender) as served:
        try:
            yield f"{served.url}/file.gz"
        finally:
            closing.set()


@pytest.mark.parametrize(
    ("head", "body", "said"),
    [
        (b"Content-Length: 12000\r\n", b"x" * 5000, "it was cut: 5,000 of 12,000 bytes came"),
        (b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\nff\r\nabc", "it was cut: .* there are more"),
    ],
)
def test_a_download_that_is_always_cut_is_called_so_with_the_bytes_that_came(head, body, said, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0)
    answer, asked = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body, []
    line = rf"download failed \({said}\); run the same command again, which goes on after [\d,]+ bytes"

    def cut(handler: Handler, _: threading.Event) -> None:
        asked.append(handler.headers["Range"])
        handler.wfile.write(answer)

    with server(cut) as url, pytest.raises(UserError, match=line):
        fetch(url, SUM, None, tmp_path / "out" / "file.gz")
    assert len(asked) == download.TRIES and not (tmp_path / "out" / "file.gz").exists()


WHOLE = bytes(range(256)) * 40


def of_parts(handler: Handler, begins: list[int], most: int) -> None:
    """Send a limited part of `WHOLE` from the byte that the request names, and record that byte."""
    begin = int((handler.headers["Range"] or "bytes=0-").removeprefix("bytes=").removesuffix("-"))
    begins.append(begin)
    rest = WHOLE[begin:]
    status = f"206 Partial Content\r\nContent-Range: bytes {begin}-{len(WHOLE) - 1}/{len(WHOLE)}" if begin else "200 OK"
    if begin and not rest:
        status, rest = f"416 Range Not Satisfiable\r\nContent-Range: bytes */{len(WHOLE)}", b""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(rest)}\r\n\r\n"
    handler.wfile.write(head.encode() + rest[:most])


def test_a_download_that_is_cut_goes_on_where_it_ended(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0)
    begins: list[int] = []
    with server(lambda handler, _: of_parts(handler, begins, 4000)) as url:
        fetch(url, sha256(WHOLE), None, tmp_path / "file.gz")
    assert begins == [0, 4000, 8000]
    assert (tmp_path / "file.gz").read_bytes() == WHOLE and len(list(tmp_path.iterdir())) == 1
    assert capsys.readouterr().err.count("the download goes on") == 2


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (WHOLE[:9000], [9000]),
        # It was complete when the run ended.
        (WHOLE, [len(WHOLE)]),
        # The beginning of another file, which is found out at the end.
        (b"x" * 9000, [9000, 0]),
        (b"x" * 20_000, [20_000, 0]),
    ],
)
def test_a_later_run_goes_on_with_what_an_earlier_one_left(left, expected, tmp_path):
    begins: list[int] = []
    (tmp_path / f".file.gz.{sha256(WHOLE)[:16]}.part").write_bytes(left)
    with server(lambda handler, _: of_parts(handler, begins, 99_999)) as url:
        fetch(url, sha256(WHOLE), None, tmp_path / "file.gz")
    assert begins == expected and (tmp_path / "file.gz").read_bytes() == WHOLE


def test_a_server_that_sends_no_parts_sends_all_again(tmp_path):
    (tmp_path / f".file.gz.{SUM[:16]}.part").write_bytes(DATA[:3])
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(DATA)
    with server(lambda handler, _: handler.wfile.write(head + DATA)) as url:
        fetch(url, SUM, None, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == DATA


def test_a_large_download_shows_how_far_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(download, "LARGE", 0)
    monkeypatch.setattr(download, "MEGABYTE", 1000)
    with server(lambda handler, _: of_parts(handler, [], 99_999)) as url:
        fetch(url, sha256(WHOLE), None, tmp_path / "file.gz")
    assert "file.gz: 100%" in (shown := capsys.readouterr().err) and "10/10" in shown, shown


@pytest.mark.parametrize(
    ("head", "sign", "limit", "said"),
    [
        (
            b"Content-Length: 99999\r\n\r\n",
            b" ",
            "SPEED_SECONDS",
            r"too slow: \d+ bytes in the last \d+ seconds, \d+ in",
        ),
        # The second where this machine is busy, and no byte comes for so long.
        (b"", b"X-Wait: 1\r\n", "TIMEOUT_SECONDS", "no answer within 0.5 seconds|timed out"),
    ],
)
def test_a_download_that_never_ends_though_bytes_come_is_given_up(head, sign, limit, said, tmp_path, monkeypatch):
    def drip(handler: Handler, closing: threading.Event) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + head)
        while not closing.wait(0.05):
            handler.wfile.write(sign)

    monkeypatch.setattr(download, "TIMEOUT_SECONDS", HANG)
    monkeypatch.setattr(download, limit, 0.5)
    with server(drip) as url, pytest.raises(UserError, match=rf"download failed \(({said})"):
        fetch(url, SUM, None, tmp_path / "file.gz")
    assert not (tmp_path / "file.gz").exists()


@pytest.mark.parametrize(("seconds", "is_fast"), [(20, True), (70, True), (1000, False)])
def test_a_fast_download_may_take_longer_than_the_interval_of_the_speed_check(seconds, is_fast, tmp_path, monkeypatch):
    blocks = 4
    (tmp_path / "remote.gz").write_bytes(data := bytes(blocks * download.BLOCK))
    clock = SimpleNamespace(monotonic=count(step=seconds / blocks).__next__)
    monkeypatch.setattr(download, "time", clock)
    with nullcontext() if is_fast else pytest.raises(UserError, match="too slow: 1,048,576 bytes"):
        fetch((tmp_path / "remote.gz").as_uri(), sha256(data), None, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").exists() == is_fast
