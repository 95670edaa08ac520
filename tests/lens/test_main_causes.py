"""Of eight example kernels the main cause is the first finding or the second, and it stays while its counter is bad.

The main cause is what the version written by hand removes (the pages of `examples/kernels*` say what that is).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.lens.removed import removed_findings
from warpsight.session.session import Session

EXAMPLES = Path(__file__).parents[2] / "examples"
MAIN = {
    "kernels/matvec": "thread_per_row",
    "kernels/softmax_rows": "thread_per_row",
    "kernels/column_means": "serial_loop",
    "kernels/heat_3d": "uncoalesced",
    "kernels/black_scholes": "accidental_double",
    "kernels_held/degree_count": "contended_atomics",
    "kernels_held/transpose_add": "uncoalesced",
    "kernels_held/prefix_rows": "thread_per_row",
}


@pytest.mark.parametrize("name", MAIN)
def test_the_main_cause_is_seen_first_and_gone_only_where_it_is_removed(name: str) -> None:
    with Session(EXAMPLES / name, cores=1) as session:
        seen = session.diagnose()
        first = [finding.name for finding in seen[:2]]
        print(name, first)
        assert MAIN[name] in first
        main = [finding for finding in seen if finding.name == MAIN[name]]
        old = session.counters(session.given)
        launch = session.given.source.replace("// launch:", "//  launch:", 1) + "\n"
        assert (
            removed_findings(main, session.diagnose(launch), old, session.counters(session.candidate(launch))) == []
        ), "nothing was done"
        good = (EXAMPLES / name / "good.cu").read_text()
        gone = removed_findings(main, session.diagnose(good), old, session.counters(session.candidate(good)))
        assert gone, f"{MAIN[name]} is still said of the version written by hand"
