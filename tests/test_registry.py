"""The registry: domains of the package, those of installed packages, and what becomes of one that can't be used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from pipeline.errors import ConfigurationError, InputError
from pipeline.registry import Domain, Registry, domain_named, registry, verbs_of

Install = Callable[[str, Mapping[str, str]], Path]

DECLARED = (
    "from pipeline.registry import Domain\nDOMAIN = Domain(__name__, {name!r}, 'Some.', settings='settings:Some')\n"
)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a package of the given files, whose entry point has its name; return its folder."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, files: Mapping[str, str]) -> Path:
        folder, metadata = tmp_path / name, tmp_path / f"hoprank_{name}-1.0.dist-info"
        for parent, texts in ((folder, files), (metadata, distribution(name))):
            parent.mkdir()
            for file, text in texts.items():
                (parent / file).write_text(text, encoding="utf-8")
        return folder

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


def distribution(name: str) -> dict[str, str]:
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: hoprank-{name}\nVersion: 1.0\n",
        "entry_points.txt": f"[hoprank.domains]\n{name} = {name}:DOMAIN\n",
    }


def looked_for() -> Registry:
    """The registry as a new process finds it."""
    return registry.__wrapped__()


def refusal(name: str) -> ConfigurationError:
    (unusable,) = looked_for().unusable
    assert unusable.name == name
    return unusable.error


def test_the_domains_of_the_package_are_its_folders() -> None:
    import pipeline.domains

    folders = {path.parent for path in Path(str(pipeline.domains.__file__)).parent.glob("*/__init__.py")}

    assert {domain.folder for domain in registry().domains if domain.distribution is None} == folders
    assert registry().unusable == ()


def test_an_installed_package_brings_a_domain(install: Install) -> None:
    folder = install("zebra_domain", {"__init__.py": DECLARED.format(name="zebras"), "cli.py": "app = 'commands'\n"})

    domain = looked_for().domains[-1]

    assert (domain.name, domain.package, domain.distribution) == ("zebras", "zebra_domain", "hoprank-zebra_domain")
    assert domain.folder == folder
    assert domain.load(domain.commands) == "commands"


def test_the_parts_of_a_domain_are_imported_when_they_are_asked_for(install: Install) -> None:
    install("late_domain", {"__init__.py": DECLARED.format(name="late"), "cli.py": "app = 'commands'\n"})

    domain = looked_for().domains[-1]

    assert "late_domain.cli" not in sys.modules
    domain.load("cli:app")
    assert "late_domain.cli" in sys.modules


def test_domains_of_packages_follow_in_the_order_of_their_names(install: Install) -> None:
    own = [domain.name for domain in registry().domains]
    for name in ("later", "earlier"):
        install(name, {"__init__.py": DECLARED.format(name=name)})

    assert [domain.name for domain in looked_for().domains] == [*own, "earlier", "later"]


def test_a_package_that_can_t_be_imported_is_named_with_how_to_remove_it(install: Install) -> None:
    install("broken_domain", {"__init__.py": "import no_such_module\n"})

    error = refusal("broken_domain")

    assert "'broken_domain' of the package hoprank-broken_domain" in error.message
    assert "ModuleNotFoundError: No module named 'no_such_module'" in error.message
    assert "pip uninstall hoprank-broken_domain" in error.fix


def test_a_domain_may_name_the_group_of_its_commands(install: Install) -> None:
    declared = DECLARED.format(name="zebras").replace("'Some.'", "'Some.', group='herd'")
    install("zebra_domain", {"__init__.py": declared, "cli.py": "app = 'commands'\n"})

    domain = looked_for().domains[-1]

    assert (domain.name, domain.group_name) == ("zebras", "herd")
    assert all(own.group_name == (own.group or own.name) for own in looked_for().domains)


@pytest.mark.parametrize(
    "declared",
    [
        "DOMAIN = 3",
        DECLARED.format(name="odd").replace("'Some.'", "'Some.', group='two words'"),
        DECLARED.format(name="two words"),
        DECLARED.format(name=""),
        DECLARED.format(name="odd").replace("__name__", "'odd_domain.cli'"),
    ],
)
def test_what_is_no_domain_is_refused(install: Install, declared: str) -> None:
    install("odd_domain", {"__init__.py": declared, "cli.py": ""})

    assert "odd_domain:DOMAIN is no Domain that has a name of a-z, 0-9 and _" in refusal("odd_domain").message


def test_a_part_that_can_t_be_imported_is_the_fault_of_its_package(install: Install) -> None:
    install("half_domain", {"__init__.py": DECLARED.format(name="half"), "cli.py": "1 / 0\n"})
    domain = looked_for().domains[-1]

    for target, said in (("cli:app", "ZeroDivisionError"), ("settings:Some", "ModuleNotFoundError")):
        with pytest.raises(ConfigurationError, match=f"of the package hoprank-half_domain can't be used: {said}"):
            domain.load(target)


def test_a_fault_of_a_domain_of_the_package_is_raised_as_it_is() -> None:
    with pytest.raises(ModuleNotFoundError):
        Domain("pipeline.domains", "none", "None.").load("cli:app")


@pytest.mark.parametrize("folder", ["", "no such folder", __file__])
def test_entries_of_the_path_that_are_no_folders_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, folder: str, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(folder)

    assert looked_for() == registry()


def test_an_unknown_domain_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="Did you mean 'skills'"):
        domain_named("skill")


def test_a_domain_without_verbs_has_none() -> None:
    assert verbs_of(Domain("pipeline.domains.skills", "some", "Some.")) == ()
    assert [verb.name for verb in verbs_of(domain_named("skills"))] == ["search", "order", "related"]
