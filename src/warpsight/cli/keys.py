"""`warpsight keys show|trust`: the key that signs this machine's certificates, and the keys of others you trust."""

from __future__ import annotations

from typing import Annotated

import typer

from warpsight.cli.output import emit

keys = typer.Typer(no_args_is_help=True, epilog="Example: warpsight keys trust colleague.pub --name colleague")
KEY_HELP = "64 hex digits, a file with them, or a certificate that the key signed."


@keys.command()
def show(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Show this machine's public key, which others can trust, and the keys that you trust.

    \b
    Examples:
      warpsight keys show
      warpsight keys show --json
    """
    from warpsight.gate.keys import fingerprint, own_public, trusted_keys

    own = own_public()
    trusted = {name: {"key": public, "fingerprint": fingerprint(public)} for name, public in trusted_keys().items()}
    document = {"own": {"key": own, "fingerprint": fingerprint(own)}, "trusted": trusted}

    def render(console: object) -> None:
        print(f"this machine: {own}\n  fingerprint {fingerprint(own)}")
        for name, one in trusted.items():
            print(f"trusted, {name}: {one['key']}\n  fingerprint {one['fingerprint']}")

    emit(document, as_json=as_json, render=render)


@keys.command()
def trust(
    key: Annotated[str, typer.Argument(metavar="KEY", help=KEY_HELP)],
    name: Annotated[str, typer.Option(metavar="NAME", help="Who holds it, as `verify` will say.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Trust a key: certificates that it signed then hold here. Compare its fingerprint with its holder first.

    \b
    Example:
      warpsight keys trust colleague.pub --name colleague
    """
    from warpsight.gate.keys import fingerprint, read_public, trust

    public = read_public(key)
    file = trust(public, name)
    emit(
        {"name": name, "key": public, "fingerprint": fingerprint(public), "file": str(file)},
        as_json=as_json,
        render=lambda _: print(f"trusted as {name}: key {fingerprint(public)}; to undo, remove {file}"),
    )
