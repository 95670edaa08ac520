"""Where and with what: the machine and versions that the certificate names, what was asked for, hashes to compare."""

from __future__ import annotations

from collections.abc import Mapping

from warpsight.nouns.run import Spent
from warpsight.report.html import Html, tag
from warpsight.report.story import Story, model_name

_SETTINGS = ("feedback", "prompt", "device", "gpu", "adapter")  # never the seed, nor paths, nor addresses


def environment_section(story: Story) -> Html:
    """Tables of names and values."""
    certificate = story.certificate
    tables = [
        ("The run", _run(story)),
        ("Hashes (sha256)", _hashes(story)),
    ]
    if certificate is not None:
        tables.append(("The machine, as the certificate names it", dict(certificate.environment)))
        tables.append(("The jail", _jail(certificate.protections, certificate.missing_protections)))
    drawn = [tag("div", tag("h3", title), _table(rows)) for title, rows in tables]
    note = tag("p", "There is no certificate, so the machine is not on record.") if certificate is None else None
    return tag(
        "section", tag("h2", "Environment and hashes"), note, tag("div", drawn, class_="pairs"), id="environment"
    )


def _table(rows: Mapping[str, str]) -> Html:
    body = [tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows.items() if value]
    return tag("div", tag("table", tag("tbody", body), class_="facts"), class_="wide")


def _run(story: Story) -> dict[str, str]:
    run = story.run
    settings = run.job.get("settings")
    asked = (
        {name: str(settings[name]) for name in _SETTINGS if settings.get(name)} if isinstance(settings, dict) else {}
    )
    strategy = run.job.get("strategy")
    return {
        "run": run.id,
        "task": run.task,
        "model": model_name(run.model),
        "device": run.device,
        "started": run.started_at,
        "outcome": f"{run.outcome or 'open'}{f': {run.reason}' if run.reason else ''}",
        **({} if run.outcome is None else _spent(run.spent)),
        "strategy": str(strategy.get("name", "")) if isinstance(strategy, dict) else "",
        "warpsight": str(run.job.get("version", "")),
        **asked,
    }


def _spent(spent: Spent) -> dict[str, str]:
    """What a run has cost; it is on record when the run has ended."""
    return {
        "tool calls": str(spent.tool_calls),
        "tokens": f"{spent.input_tokens} in, {spent.output_tokens} out",
        "seconds": f"{spent.seconds:.1f}",
        "cost": "unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}",
    }


def _hashes(story: Story) -> dict[str, str]:
    certificate = story.certificate
    return {
        "task": str(story.run.job.get("task_sha256") or ""),
        "given kernel": story.given.sha256,
        "new kernel": story.final.candidate_sha256 if story.final else "",
        "certificate": story.certificate_sha256 or "",
        "ledger head": certificate.ledger.head if certificate else "",
        "seed commitment": certificate.seed.commitment if certificate else "",
    }


def _jail(protections: tuple[str, ...], missing: tuple[str, ...]) -> dict[str, str]:
    return {"protections": ", ".join(protections), "missing": ", ".join(missing) or "none"}
