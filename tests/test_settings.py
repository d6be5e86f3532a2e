"""Settings: which source wins, what is refused and in which words, and what is shown of secrets."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli.options import flags as assigned
from pipeline.db.embedded import ServerOptions
from pipeline.domains import skills
from pipeline.domains.memory.settings import MemorySettings
from pipeline.domains.skills.settings import SkillSettings
from pipeline.errors import ConfigurationError
from pipeline.files.limits import DEFAULT_LIMITS
from pipeline.resources import resource_folder
from pipeline.settings import Section, Settings, load_settings, provenance

Configure = Callable[[str], Path]


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("HOPRANK_", "NEO4J_")):
            monkeypatch.delenv(name)


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Write a TOML file and point HOPRANK_CONFIG at it."""

    def write(text: str) -> Path:
        path = tmp_path / "hoprank.toml"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setenv("HOPRANK_CONFIG", str(path))
        return path

    return write


def origin(name: str, flags: dict[str, Any] | None = None) -> str:
    return next(row.origin for row in provenance(flags) if row.name == name)


def shown(name: str, flags: dict[str, Any] | None = None) -> str:
    return next(row.value for row in provenance(flags) if row.name == name)


def refusal(flags: dict[str, Any] | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(flags)
    assert caught.value.fix
    return caught.value.message


def test_the_shipped_file_wins_over_nothing_and_neither_empty_variables_nor_those_of_others_set_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HOPRANK_PORT", "HOPRANK_SERVICE_HOST", "HOPRANK_DEBUG", "HOPRANK_TEST_KILLS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HOPRANK_EMBED__BATCH_TOKENS", "")
    monkeypatch.setenv("NEO4J_URI", "")

    assert (load_settings().embed.batch_tokens, load_settings().neo4j.uri) == (4096, None)
    assert origin("embed.batch_tokens") == str(resource_folder("configs") / "default.toml")
    assert origin("neo4j.uri") == "built in"


def test_each_source_wins_over_the_one_before(configure: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    path = configure("[embed]\nbatch_tokens = 8\n[chunk]\noverlap = 5\n")
    assert (load_settings().embed.batch_tokens, origin("embed.batch_tokens")) == (8, str(path))

    monkeypatch.setenv("HOPRANK_EMBED__BATCH_TOKENS", "16")
    assert (load_settings().embed.batch_tokens, origin("embed.batch_tokens")) == (16, "HOPRANK_EMBED__BATCH_TOKENS")

    flags = {"embed": {"batch_tokens": 64}}
    assert (load_settings(flags).embed.batch_tokens, origin("embed.batch_tokens", flags)) == (64, "flag")

    # what a stronger source doesn't name stays as a weaker one has it
    assert (load_settings(flags).chunk.overlap, load_settings(flags).embed.device) == (5, "auto")


def test_neo4js_own_variables_name_the_server_and_hopranks_own_wins(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure('[neo4j]\nuri = "bolt://file:1"\nusername = "filer"\n')
    monkeypatch.setenv("NEO4J_URI", "neo4j+s://aura:7687")
    monkeypatch.setenv("NEO4J_PASSWORD", "s3cret")
    monkeypatch.setenv("NEO4J_DATABASE", "graph")

    neo4j = load_settings().neo4j

    assert (neo4j.uri, neo4j.username, neo4j.database) == ("neo4j+s://aura:7687", "filer", "graph")
    assert neo4j.password is not None
    assert neo4j.password.get_secret_value() == "s3cret"
    assert "s3cret" not in repr(load_settings()) + str(provenance())
    assert (origin("neo4j.uri"), shown("neo4j.password").strip("*")) == ("NEO4J_URI", "")
    monkeypatch.setenv("HOPRANK_NEO4J__URI", "bolt://ours:1")
    assert (load_settings().neo4j.uri, origin("neo4j.uri")) == ("bolt://ours:1", "HOPRANK_NEO4J__URI")


def test_the_embedded_servers_options_are_those_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOPRANK_HOME", "~/graph")
    monkeypatch.setenv("HOME", str(tmp_path))

    options = ServerOptions.of(load_settings({"server": {"heap_mb": 700, "idle_minutes": 0}}))

    assert (options.heap_mb, options.idle_minutes, options.page_cache_mb) == (700, 0, None)
    assert (options.home, origin("home")) == (tmp_path / "graph", "HOPRANK_HOME")


@pytest.mark.parametrize(
    ("variable", "value", "name"),
    [
        ("HOPRANK_EMBED__BATCH_TOKENS", "0", "embed.batch_tokens"),
        ("HOPRANK_EMBED__BATCH_TOKENS", "many", "embed.batch_tokens"),
        ("HOPRANK_EMBED__PRECISION", "int8", "embed.precision"),
        ("HOPRANK_WALK__DAMPING", "1", "walk.damping"),
        ("HOPRANK_FULLTEXT__ANALYZER", "english'; DROP", "fulltext.analyzer"),
        ("NEO4J_URI", "localhost:7687", "neo4j.uri"),
        ("NEO4J_URI", "http://localhost:7474", "neo4j.uri"),
        ("HOPRANK_OBSERVE__TRACES", "localhost:4318", "observe.traces"),
        ("HOPRANK_OBSERVE__TRACES", "http://", "observe.traces"),
        ("HOPRANK_OBSERVE__TRACES", "http://localhost:4318/?a=1", "observe.traces"),
        ("HOPRANK_SERVE__ROOT_PATH", "hoprank", "serve.root_path"),
        ("HOPRANK_SERVE__ROOT_PATH", "/hoprank/", "serve.root_path"),
        ("HOPRANK_SERVE__ROOT_PATH", "/a b", "serve.root_path"),
        ("HOPRANK_SERVE__ROOT_PATH", "/v1/hoprank", "serve.root_path"),
        ("HOPRANK_SERVE__ROOT_PATH", "/../x?y", "serve.root_path"),
        ("HOPRANK_SERVE__PROXIES", "['proxy.example.org']", "serve.proxies"),
        ("HOPRANK_SERVE__PROXIES", "['10.0.0.1/8']", "serve.proxies"),
        ("HOPRANK_ASK__BASE_URL", "localhost:11434", "ask.base_url"),
        ("HOPRANK_ASK__BASE_URL", "http://localhost:99999", "ask.base_url"),
        ("HOPRANK_ASK__BASE_URL", "http://[bad", "ask.base_url"),
        ("HOPRANK_ASK__TIMEOUT", "0", "ask.timeout"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_by_name_and_origin(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, name: str
) -> None:
    monkeypatch.setenv(variable, value)

    message = refusal()

    assert name in message
    assert variable in message
    assert value.strip("[]'") in message


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"embed": {"batch_tokens": -1}, "chunk": {"overlap": -1}}, ["embed.batch_tokens (flag): -1", "chunk.overlap"]),
        ({"embed": {"model": ""}}, ["embed.model (flag)"]),
        ({"ask": {"parameters": {"model": "another"}}}, ["HopRank itself sets model"]),
        ({"neo4j": {"password": ["hunter2"]}}, ["neo4j.password"]),
        ({"serve": {"token": "hunter2"}}, ["serve.token (flag): a token has at least 16 characters, not 7"]),
        ({"ask": {"base_url": "htp://someone:hunter2@example.org"}}, ["ask.base_url"]),
        (assigned(assignments=['serve={token = "hunter2"}']), ["serve.token"]),
        (assigned(assignments=["serve={token = hunter2}"]), ["serve"]),
        (assigned(assignments=['serve={tokens = [{token = "hunter2"}]}']), ["serve.tokens"]),
        (assigned(assignments=["serve={tokens = hunter2}"]), ["serve"]),
    ],
)
def test_wrong_flags_are_named_at_once_and_no_secret_is_repeated(flags: dict[str, Any], says: list[str]) -> None:
    message = refusal(flags)

    assert all(one in message for one in says)
    assert "hunter2" not in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[embed]\nbatchsize = 3\n", "embed.batchsize ({path})"),
        (b"[embedding]\nmodel = 'x'\n", "embedding"),
        (b"[skills]\ntop_k = 0\n", "skills.top_k ({path}): 0: Input should be greater than or equal to 1"),
        (b"[skills]\nsimilarity = 1\n", "skills.similarity ({path}): there is no such setting"),
        (b"[serve]\nfolders = '[\"/a\"]'\n", "serve.folders ({path}): '[\"/a\"]': a list is expected"),
        (b"[embed", "{path}"),
        (b"\xff\xfe", "{path}"),
        (b"embed = 3\n", "embed"),
        (b"a = " + b"[" * 9_999, "{path}"),
        (b"a = " + b"1" * 9_999, "{path}"),
    ],
)
def test_a_file_with_what_is_no_setting_is_refused(configure: Configure, content: bytes, says: str) -> None:
    path = configure("")
    path.write_bytes(content)

    assert says.format(path=path) in refusal()


@pytest.mark.parametrize("name", ["gone.toml", "."])
def test_what_is_no_file_is_no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("HOPRANK_CONFIG", str(tmp_path / name))

    assert str(tmp_path / name) in refusal()


def test_every_setting_is_shown_once_and_in_the_shipped_file_unless_it_has_no_default() -> None:
    names = [row.name for row in provenance() if row.name.split(".")[0] in Settings.model_fields]
    text = (resource_folder("configs") / "default.toml").read_text(encoding="utf-8")
    sections = tomllib.loads(text)
    given = {f"{section}.{name}" for section, values in sections.items() for name in values or ("",)} - {"weights."}

    assert len(names) == len(set(names))
    assert given <= set(names)
    unset = set(names) - given - {"home", "weights", "neo4j.password", "embed.api_key", "ask.api_key"}
    assert all(f"{name.split('.')[-1]} =" in text for name in unset)


def test_a_file_of_weights_replaces_those_that_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = load_settings().weights
    (tmp_path / "tuned.toml").write_text("[names]\ncosine = 9\n[scorer.named]\nwalk = 30\n", encoding="utf-8")
    monkeypatch.setenv("HOPRANK_WEIGHTS", str(tmp_path / "tuned.toml"))

    weights = load_settings().weights

    assert weights.names == shipped.names.model_copy(update={"cosine": 9.0})
    assert weights.scorer.named == {**shipped.scorer.named, "walk": 30.0}
    assert (weights.scorer.unnamed, weights.relevance) == (shipped.scorer.unnamed, shipped.relevance)
    assert (shown("weights"), origin("weights")) == (str(tmp_path / "tuned.toml"), "HOPRANK_WEIGHTS")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[names", "Expected"),
        ("[walk]\nlink = 1", "walk"),
        ("[names]\ncosine = 'a'", "names.cosine"),
        (None, "No such file"),
    ],
)
def test_what_is_no_file_of_weights_is_refused(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "tuned.toml").write_text(text, encoding="utf-8")

    message = refusal({"weights": str(tmp_path / "tuned.toml")})

    assert "weights (flag)" in message
    assert says in message


def test_a_domain_has_a_section_with_defaults_of_its_own(configure: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(flags: dict[str, Any] | None = None) -> tuple[int, str]:
        return load_settings(flags).section(SkillSettings).top_k, origin("skills.top_k", flags)

    assert found() == (10, str(Path(skills.__file__).parent / "defaults.toml"))
    path = configure("[skills]\ntop_k = 11\n")
    assert found() == (11, str(path))
    monkeypatch.setenv("HOPRANK_SKILLS__TOP_K", "12")
    assert found() == (12, "HOPRANK_SKILLS__TOP_K")
    assert found({"skills": {"top_k": "13"}}) == (13, "flag")


@pytest.mark.parametrize(
    ("flags", "meant"),
    [
        ({"embed": {"modle": "x"}}, "embed.model"),
        ({"serv": {"rate": 1}}, "serve"),
        ({"skills": {"topk": 1}}, "skills.top_k"),
        ({"hom": "x"}, "home"),
        ({"nonsense": 1}, ""),
    ],
)
def test_a_misspelt_setting_is_told_the_one_that_is_meant(flags: dict[str, Any], meant: str) -> None:
    with pytest.raises(ConfigurationError, match="there is no such setting") as caught:
        load_settings(flags)

    said = f"Did you mean {meant!r}?" if meant else "There is no setting nonsense. `hoprank config show` lists every"
    assert caught.value.fix.startswith(said)


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("HOPRANK_SERV__TOKEN", "'HOPRANK_SERVE__TOKEN'"),
        ("HOPRANK_SERVE__TOKN", "'serve.token'"),
        ("HOPRANK_EMBED_MODEL", "'HOPRANK_EMBED__MODEL'"),
    ],
)
def test_a_misspelt_variable_is_named_and_its_value_is_not(
    monkeypatch: pytest.MonkeyPatch, variable: str, meant: str
) -> None:
    monkeypatch.setenv(variable, "a secret of mine")

    with pytest.raises(ConfigurationError, match=variable) as caught:
        load_settings()

    assert f"Did you mean {meant}?" in caught.value.fix
    assert "secret" not in str(caught.value)


def test_a_section_that_no_domain_brings_is_refused_by_its_class() -> None:
    with pytest.raises(ConfigurationError, match=r"no section of settings for .*Stray"):
        load_settings().section(type("Stray", (Section,), {}))


def test_the_limits_of_sources_are_those_of_the_readers() -> None:
    assert load_settings().sources.limits == DEFAULT_LIMITS
    assert load_settings({"sources": {"max_megabytes": 0.5}}).sources.limits.bytes_read == 500_000


FOLDERS = (Path("/a"), Path("/b"))
ADDED = {"a": "9", "new": "1"}


@pytest.mark.parametrize(
    ("name", "value", "folders", "added"),
    [
        ("serve.folders", '["/a", "/b"]', FOLDERS, {}),
        ("serve.folders", "['/a',\n'/b',]", FOLDERS, {}),
        ("serve", '{folders = ["/a", "/b"]}', FOLDERS, {}),
        ("serve", '{"folders": ["/a", "/b"]}', FOLDERS, {}),
        ("memory.entity_types", "{a = '9', new = '1'}", (), ADDED),
        ("memory.entity_types", '{"a": "9", "new": "1"}', (), ADDED),
        ("memory", "{entity_types = {a = '9', new = '1'}}", (), ADDED),
        ("memory.entity_types.a", "9", (), {"a": "9"}),
    ],
)
@pytest.mark.parametrize("by_variable", [False, True])
def test_lists_and_tables_are_toml_values(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    folders: tuple[Path, ...],
    added: dict[str, str],
    by_variable: bool,
) -> None:
    default, flags = load_settings(), {}
    if by_variable:
        monkeypatch.setenv(f"HOPRANK_{name.replace('.', '__').upper()}", value)
    else:
        flags = assigned(assignments=[f"{name}={value}"])

    settings = load_settings(flags)

    assert settings.serve == default.serve.model_copy(update={"folders": folders})
    assert settings.section(MemorySettings).entity_types == added


def test_a_table_of_tables_is_one_value_or_several() -> None:
    runs = '{source = ["service"], target = ["config"], description = "x = [y]"}'
    whole = assigned(assignments=[f"memory.relation_types={{runs_on = {runs}}}"])
    part = assigned(assignments=[f"memory.relation_types.runs_on={runs}"])

    assert load_settings(whole) == load_settings(part) != load_settings()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("BAAI/bge-m3", "BAAI/bge-m3"),
        ('"BAAI/bge-m3"', "BAAI/bge-m3"),
        ("'a b'", "a b"),
        ("[a]", "[a]"),
        ('["a"]', '["a"]'),
        ("{a = 1}", "{a = 1}"),
        ('"a', '"a'),
        ("1e3", "1e3"),
        ("true", "true"),
        ("2026-11-26", "2026-11-26"),
    ],
)
def test_a_text_stays_as_it_is_without_quotes_around_it(value: str, text: str) -> None:
    assert load_settings(assigned(assignments=[f"embed.model={value}"])).embed.model == text


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("serve.folders", "/a", "'/a': a list is expected"),
        ("serve.folders", "/a,/b", "'/a,/b': a list is expected"),
        ("serve.folders", "[/a]", "'[/a]': a list is expected; as TOML: Invalid value"),
        ("serve.folders", '["/a"', "a list is expected; as TOML: Unclosed array"),
        ("serve.folders", "[" * 99_999, "a list is expected; as TOML:"),
        ("serve.folders", '["/a"]\n[walk]', "a list is expected; as TOML:"),
        ("serve.folders", "{a = 1}", "a list is expected"),
        ("ask.parameters", "0.5", "'0.5': a table is expected"),
        ("ask.parameters", "[1]", "a table is expected"),
        ("walk", "0.5", "a table is expected"),
    ],
)
@pytest.mark.parametrize("by_variable", [False, True])
def test_what_is_no_list_or_table_is_refused_with_the_way_to_write_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str, by_variable: bool
) -> None:
    variable = f"HOPRANK_{name.replace('.', '__').upper()}"
    flags = {} if by_variable else assigned(assignments=[f"{name}={value}"])
    if by_variable:
        monkeypatch.setenv(variable, value)

    with pytest.raises(ConfigurationError) as refused:
        load_settings(flags)

    assert says in refused.value.message
    assert f"{name} ({variable if by_variable else 'flag'})" in refused.value.message
    assert (f"{variable}='" if by_variable else f"--set '{name}=") in refused.value.fix


def test_the_variable_that_holds_a_setting_is_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPRANK_WALK", "{damping = 0.5}")
    monkeypatch.setenv("HOPRANK_ASK__PARAMETERS__SEED", "30")
    monkeypatch.setenv("HOPRANK_SERVE__TOKENS", '[{token = "short"}]')

    assert "serve.tokens.0.token (HOPRANK_SERVE__TOKENS)" in refusal()
    monkeypatch.delenv("HOPRANK_SERVE__TOKENS")
    assert origin("walk.damping") == "HOPRANK_WALK"
    assert origin("walk.link").endswith("default.toml")
    assert origin("ask.parameters") == "HOPRANK_ASK__PARAMETERS__SEED"


def test_a_value_is_shown_as_it_can_be_set() -> None:
    settings = [
        "serve.folders=['/a', '/b']",
        'memory.entity_types={"a key" = "é \\"x\\"", b = "[y]"}',
        "sources.code=true",
    ]
    chosen = assigned(assignments=settings)
    rows = {row.name: row.value for row in provenance(chosen)}

    assert rows["serve.folders"] == '["/a", "/b"]'
    assert rows["memory.entity_types"] == '{"a key" = "é \\"x\\"", b = "[y]"}'
    assert rows["sources.code"] == "true"
    assert load_settings(assigned(assignments=[f"{name}={value}" for name, value in rows.items() if value])) == (
        load_settings(chosen)
    )


@pytest.mark.parametrize("login", ["neo4j:s3cr3tWord@", "neo4j:s3/cr3t@Word@", "s3cr3tWord@", ":s3cr3tWord@"])
def test_an_address_with_a_login_is_refused_and_not_shown(login: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", f"bolt://{login}127.0.0.1:1")
    with pytest.raises(ConfigurationError, match="holds no user and no password") as caught:
        load_settings()

    assert "NEO4J_URI" in str(caught.value)
    assert not [word for word in ("cr3t", "s3", "Word") if word in str(caught.value)]


def test_an_address_is_shown_without_its_login() -> None:
    given = {"ask": {"base_url": "https://someone:secret@example.org:8/v1"}}

    assert shown("ask.base_url", given) == "https://example.org:8/v1"
