from __future__ import annotations

import base64
import json
import re

import jinja2
import pytest
from ansible.parsing import vault as ansibles
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible_collections.llmgw.preflight.plugins.plugin_utils.vaulted import secrets_in, untold, without


@pytest.fixture
def vault(monkeypatch):
    """vault(text): it as a value of a variable, as this ansible-core has it."""
    secrets = [("default", VaultSecret(b"password"))]

    def made(text, password=b"password"):
        encrypted = VaultLib([]).encrypt(text, VaultSecret(password)).decode()
        if hasattr(ansibles, "EncryptedString"):
            return ansibles.EncryptedString(ciphertext=encrypted)
        from ansible.parsing.yaml.objects import AnsibleVaultEncryptedUnicode
        value = AnsibleVaultEncryptedUnicode(encrypted)
        value.vault = VaultLib(secrets)
        return value

    if hasattr(ansibles, "VaultSecretsContext"):
        monkeypatch.setattr(ansibles.VaultSecretsContext, "_current", ansibles.VaultSecretsContext(secrets))
    return made


def test_each_is_found_wherever_it_is(vault):
    others = {"x": vault("of another")}
    variables = {"a": vault("hidden"), "b": [{"c": (vault("deeper"), "open")}], "d": {"e": "open"}, "hostvars": others,
                 "ansible_delegated_vars": {"localhost": others}, "more": {"vars": others}}
    assert secrets_in(variables, {"f": vault(" other\n")}) == {"hidden", "deeper", "other"}


def test_one_that_can_not_be_opened_is_no_text(vault):
    assert secrets_in({"a": vault("hidden", b"wrong")}) == set()


def test_letters_are_no_secret(vault):
    assert secrets_in({"a": vault("no"), "b": vault(""), "c": vault("no\n")}) == set()


LONG = "correct horse battery staple"


@pytest.mark.parametrize(("text", "secrets", "told"), [
    ("x is 'hidden': it must be a list.", {"hidden"}, "x is '***': it must be a list."),
    ("x is 'a:hidden hidden'", {"hidden"}, "x is 'a:*** ***'"),
    (f"x is '{LONG[:15]}...: it must", {LONG}, "x is '***...: it must"),
    ("x is 'two\\nlines'", {"two\nlines"}, "x is '***'"),
    ("x is 'hidden and more'", {"hidden", "hidden and more"}, "x is '***'"),
    ("x is 'open'", {"hidden"}, "x is 'open'"), ("x is 'open'", set(), "x is 'open'"),
    (f"{LONG[:15]} and {LONG}", {LONG}, f"{LONG[:15]} and ***"), (f"cut is {LONG[:9]}", {LONG}, "cut is ***"),
    ("two lines", {"two\nlines"}, "***"), ('"a\\"b"', {'a"b'}, '"***"'), ("aaaaaaaaaab", {"aaaaaaaaab"}, "a***"),
])
def test_it_is_not_shown(text, secrets, told):
    assert without(text, secrets) == told


@pytest.mark.parametrize("template", [
    "{{ pw }}", "{{ pw | upper }}", "{{ pw | lower }}", "{{ pw | b64encode }}", "{{ (pw ~ '\n') | b64encode }}", "{{ pw | urlencode }}",
    "{{ {'a': pw} | urlencode }}", "{{ pw | upper | to_json }}", "{{ pw | string | repr_of | lower }}",
])
@pytest.mark.parametrize("secret", [LONG, "Pass/w\u00f6rd \"1\" & more", "abc", "two\nLines"])
def test_it_is_not_shown_as_filters_make_it_either(template, secret):
    filters = {"b64encode": lambda text: base64.b64encode(text.encode()).decode(), "to_json": json.dumps, "repr_of": repr}
    environment = jinja2.Environment(autoescape=False)
    environment.filters.update(filters)
    made = environment.from_string(template).render(pw=secret)
    assert re.fullmatch(r"x is (a=|'|\")?\*\*\*('|\")?\.", without(f"x is {made}.", {secret, "other"}))
    assert without(f"x is {made}.", {"other"}) == f"x is {made}."


def test_what_is_told_of_findings_and_waivers_holds_none():
    finding = {"machine": "hidden", "check": "hidden", "level": "fail", "detail": "is hidden", "fix": "Set hidden.",
               "waived": {"reason": "as hidden", "until": None}}
    whole = {**finding, "commands": ["echo open"]}
    told = {**finding, "detail": "is ***", "fix": "Set ***.", "waived": {"reason": "as ***", "until": None}}
    assert untold([finding, whole, {**whole, "commands": ["echo open", "echo hidden"]}], {"hidden"}) == [
        told, {**told, "commands": ["echo open"]}, told]
    assert untold(["hidden", 5, {"detail": ["hidden"], "fix": None}], {"hidden"}) == ["***", 5, {"detail": ["***"], "fix": None}]
