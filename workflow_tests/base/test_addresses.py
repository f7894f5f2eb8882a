"""Addresses: their secrets, and those of this machine."""

import sys

import pytest

from litm.base.cli import run
from litm.base.download import check_has_no_password, is_this_machine
from litm.base.messages import UserError, note, without_passwords

SECRET = [
    "http://user:pw-canary@host/v1",
    "https://pw-canary@host:8000/file.gz",
    "ftp://user:pw-canary/half@host/file.gz",
    "http://user:@pw-canary@host/",
]
PUBLIC = ["http://host/v1", "https://host:8000/a@b/c", "http://[::1]:8000/v1", "file:///folder/name@2.gz"]


@pytest.mark.parametrize("url", SECRET)
def test_a_password_in_an_address_is_refused_and_masked_in_all_messages(url, capsys, monkeypatch):
    with pytest.raises(ValueError, match="a user or a password") as refusal:
        check_has_no_password(url)
    assert "canary" not in str(refusal.value)
    assert without_passwords(f"no luck with {url} today").endswith(" today")

    def fails() -> None:
        note(f"asking {url} now")
        raise UserError(f"{url}: no")

    monkeypatch.setattr(sys, "argv", ["program"])
    with pytest.raises(SystemExit) as end:
        run(fails)
    said = f"{end.value.code} {capsys.readouterr().err}"
    assert "canary" not in said and said.count("://***@host") == 2


@pytest.mark.parametrize("url", PUBLIC)
def test_an_address_without_a_password_stays_as_it_is(url):
    assert check_has_no_password(url) == url
    assert without_passwords(f"see {url}, or {url}") == f"see {url}, or {url}"


def test_this_machine_has_these_addresses():
    own = ["http://localhost:8000/v1", "http://127.0.0.1/v1", "http://127.3.2.1:1/v1", "http://[::1]:8000/v1"]
    assert all(map(is_this_machine, own))
    others = ["http://10.0.0.1/v1", "https://localhost.evil.org/v1", "https://api.openai.com/v1", "file:///x"]
    assert not any(map(is_this_machine, others))
