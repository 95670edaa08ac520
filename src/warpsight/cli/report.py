"""`warpsight profile --from REPORT`: a measured report in the same words and tables as a simulated profile.

Draws what the report has and says what it lacks. There is no task here, so no roofline and no build.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, overload

from rich.table import Table
from rich.text import Text

from warpsight.cli.output import emit
from warpsight.cli.profile_text import GROUPS, number_text, percent_text
from warpsight.cli.task_argument import document_of
from warpsight.cli.time_text import BUSY, BUSY_LABELS, STALL, STALL_MEANINGS, STALLS_SHOWN, bar, bytes_text, us_text
from warpsight.errors import UsageError
from warpsight.lens.vocabulary import vocabulary

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.nouns import LineCounters, Profile

BAR = 30
