"""What other packages add: found by its entry point, used, and harmless to the rest where it is broken."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warpsight import plugins
from warpsight.errors import UsageError
from warpsight.lens.findings import detect
from warpsight.lens.profilers import availabilities
from warpsight.lens.profilers.ladder import climb, has_ladder, rungs_for
from warpsight.models.open import open_model
from warpsight.nouns import Profile
from warpsight.plugins import KINDS, PluginWarning, Seam, is_place, states
from warpsight.rewrite import CAUSES, Facts, rewritable, rewrites
from warpsight.tools import task_box

ROOT = Path(__file__).parents[1]
CODE = '''
from warpsight.lens.profilers.availability import Availability
from warpsight.models.scripted import ScriptedModel
from warpsight.nouns import Evidence, Finding, Noun, Profile
from warpsight.rewrite import Rewrite
from warpsight.session.session import Session
from warpsight.tools.answer import Answer

class Talker:
    @classmethod
    def open(cls, rest, *, base_url, api_key_env, adapter):
        if rest == "mute":
            raise RuntimeError("no voice")
        return ScriptedModel(["hello"], name=f"talker {rest} {base_url}")

def finds(profile, build):
    return Finding(name="seen", message="m", evidence=(Evidence(counter="c", value=1, unit=""),), suggestion="s")

def raises(*_):
    raise ValueError("not today")

def lies(*_):
    return ["a text"]

def rewrites(text, facts):
    return [Rewrite("with a comment", text + "// more")]

class Said(Noun):
    words: str

def shout(session: Session, words: str) -> Answer[Said]:
    """Say it loudly."""
    return Answer(words.upper(), Said(words=words.upper()))

class Counter:
    ladder, tells = "mine", "one counter"
    def available(self):
        return Availability("counter", path="/here", version="1")
    def measure(self, program, kernel, *, folder, deadline_s):
        return Profile(kernel=kernel, device="mine", source="measured", isa="native", sampled_blocks=1, total_blocks=1,
                       counters={"duration_us": 1.0}, units={"duration_us": "us"})

counter = Counter()
'''
PROFILE = Profile(
    kernel="k", device="d", source="measured", isa="native", sampled_blocks=1, total_blocks=1,
    counters={"duration_us": 1.0}, units={"duration_us": "us"},
)  # fmt: skip
Install = Callable[..., None]


def forget() -> None:
    for cached in (plugins._points, plugins._installed, task_box.tools, task_box.specs):
        cached.cache_clear()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A package with these entry points, installed as pip leaves one behind."""

    def installed(**points: dict[str, str]) -> None:
        (tmp_path / "guest_package").mkdir()
        (tmp_path / "guest_package" / "__init__.py").write_text(CODE)
        (tmp_path / "guest_package" / "inside.py").write_text("from guest_package import Talker")
        about = tmp_path / "guest-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
        groups = [
            f"[warpsight.{kind}]\n" + "".join(f"{name} = {place}\n" for name, place in found.items())
            for kind, found in points.items()
        ]
        (about / "entry_points.txt").write_text("\n".join(groups))
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()
        forget()

    yield installed
    forget()
    for name in [name for name in sys.modules if name.startswith("guest_package")]:
        del sys.modules[name]


def test_a_finding_is_added_and_a_broken_one_is_left_out(install: Install) -> None:
    before = detect(PROFILE)
    install(findings={
        "good": "guest_package:finds", "bad": "guest_package:raises", "gone": "guest_package:nothing",
        "odd": "guest_package:lies",
    })  # fmt: skip
    with pytest.warns(PluginWarning) as told:
        found = detect(PROFILE)
    assert [one.name for one in found] == [*(one.name for one in before), "seen"]
    words = " ".join(str(one.message) for one in told)
    assert "bad of guest" in words and "not today" in words and "gone of guest" in words and "odd of guest" in words


def test_a_rewrite_is_added_under_a_new_cause_and_under_one_of_ours(install: Install) -> None:
    text, facts = "__global__ void k() {}", Facts(entry="k")
    assert rewritable() == tuple(CAUSES)
    install(
        rewrites={"guests": "guest_package:rewrites", "spills": "guest_package:rewrites", "bad": "guest_package:lies"}
    )
    assert rewritable() == (*CAUSES, "bad", "guests")
    for cause in ("guests", "spills"):
        assert [one.name for one in rewrites(text, cause, facts)] == ["with a comment"]
    with pytest.warns(PluginWarning, match="bad of guest"):
        assert rewrites(text, "bad", facts) == ()
    schema = task_box.tools()["rewrite"].spec.parameters["properties"]
    assert "guests" in schema["cause"]["description"]  # type: ignore[index,call-overload]


def test_a_tool_is_added_and_cannot_take_the_place_of_ours(install: Install) -> None:
    ours = tuple(task_box.tools())
    install(tools={"shout": "guest_package:shout", "submit": "guest_package:shout", "raises": "guest_package:raises"})
    with pytest.warns(PluginWarning) as told:
        found = task_box.tools()
    assert tuple(found) == (*ours, "shout") and {"submit of guest", "raises of guest"} == {
        str(one.message).partition(" (")[0] for one in told
    }
    assert found["shout"].function(None, words="a").text == "A"
    assert [spec.description for spec in task_box.specs() if spec.name == "shout"] == ["Say it loudly."]


def test_a_profiler_is_asked_before_ours(install: Install, tmp_path: Path) -> None:
    assert not has_ladder("mine")
    install(profilers={"counter": "guest_package:counter", "bad": "guest_package:raises"})
    with pytest.warns(PluginWarning, match="bad of guest"):
        assert has_ladder("mine")
        rungs = rungs_for("mine", ("true",), "k", folder=tmp_path, deadline_s=1.0)
        listed = {found.tool: found.present for found in availabilities()}
    assert climb(rungs).used == "counter" and listed["counter"] and not listed["bad"]


def test_a_model_is_opened_by_its_kind_or_its_place(install: Install) -> None:
    install(models={"talker": "guest_package:Talker"})
    assert open_model("talker:a b", base_url="u").name == "talker a b u"
    assert open_model("guest_package.inside:Talker:x").name == "talker x None"
    with pytest.raises(UsageError, match="'talker' of another package cannot be opened: RuntimeError: no voice"):
        open_model("talker:mute")
    with pytest.raises(UsageError, match=r"no model 'guest_package.inside:Gone'"):
        open_model("guest_package.inside:Gone")
    for name in ("no such thing", "guest_package:Talker"):
        with pytest.raises(UsageError, match="expected a model as"):
            open_model(name)


def test_a_broken_device_is_named_and_others_open(install: Install) -> None:
    install(devices={"dud": "guest_module_that_is_not_there:Device"})
    seam = Seam("device", "warpsight.devices", {"virtual": "warpsight.devices.virtual:VirtualGpu"})
    assert seam.names() == ("virtual", "dud") and seam.find("virtual").name == "virtual"
    with pytest.raises(UsageError, match="no device 'dud': it of guest cannot be loaded: ModuleNotFoundError"):
        seam.find("dud")
    assert [(kind, name, bool(wrong)) for kind, name, wrong in states() if "guest" in name] == [
        ("devices", "dud of guest", True)
    ]


@pytest.mark.parametrize("name", ["../x:Y", "os.path:", ":Class", "a b:C", "os:system('x')", "os", "https://h:80"])
def test_only_a_dotted_name_is_imported(name: str) -> None:
    assert not is_place(name)
    with pytest.raises(UsageError):
        Seam("device", "warpsight.devices").find(name)


def test_every_kind_has_one_seam() -> None:
    text = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for kind in KINDS:
        assert text.count(f'"warpsight.{kind}"') == 1


def test_the_command_line_goes_on_with_a_broken_plugin(install: Install, tmp_path: Path) -> None:
    install(findings={"bad": "guest_package:raises"})
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom warpsight.cli.app import main\nmain()"
    run = subprocess.run(
        [sys.executable, "-c", code, "profile", "vector_add", "--workload", "small"],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0 and "bad of guest" in run.stderr and "not today" in run.stderr
