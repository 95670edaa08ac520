"""Training curves: what the trainer logged as JSON lines, and a picture of it as plain SVG.

Draws with no plotting package, so that a curve can be looked at wherever there is a browser.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

WIDTH, HEIGHT, PAD = 640, 220, 44
COLOUR = "#2563a8"


def write_curves(log: Sequence[Mapping[str, float]], folder: Path, names: Sequence[str]) -> None:
    """`curves.json` with every logged row, `curves.svg` with one panel for each name that was logged."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "curves.json").write_text("".join(json.dumps(dict(row)) + "\n" for row in log))
    panels = [(name, points) for name in names if (points := _points(log, name))]
    (folder / "curves.svg").write_text(svg(panels))


def svg(panels: Sequence[tuple[str, Sequence[tuple[float, float]]]]) -> str:
    """One panel under the other."""
    body = "".join(_panel(name, points, number * HEIGHT) for number, (name, points) in enumerate(panels))
    height = max(1, len(panels)) * HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/>{body}</svg>\n'
    )


def _points(log: Sequence[Mapping[str, float]], name: str) -> list[tuple[float, float]]:
    return [(float(row["step"]), float(row[name])) for row in log if name in row and "step" in row]


def _panel(name: str, points: Sequence[tuple[float, float]], top: int) -> str:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    low, high = min(ys), max(ys)
    wide, tall = max(xs) - min(xs) or 1.0, high - low or 1.0
    right, down = (WIDTH - 2 * PAD) / wide, (HEIGHT - 2 * PAD) / tall
    bottom = top + HEIGHT - PAD
    placed = " ".join(f"{PAD + (x - min(xs)) * right:.1f},{bottom - (y - low) * down:.1f}" for x, y in points)
    return (
        f'<text x="{PAD}" y="{top + 24}" font-weight="bold">{name}</text>'
        f'<line x1="{PAD}" y1="{bottom}" x2="{WIDTH - PAD}" y2="{bottom}" stroke="#999"/>'
        f'<text x="4" y="{bottom}">{low:.3g}</text><text x="4" y="{top + PAD}">{high:.3g}</text>'
        f'<text x="{PAD}" y="{bottom + 16}">step {min(xs):g}</text>'
        f'<text x="{WIDTH - PAD}" y="{bottom + 16}" text-anchor="end">step {max(xs):g}</text>'
        f'<polyline fill="none" stroke="{COLOUR}" stroke-width="1.5" points="{placed}"/>'
    )
