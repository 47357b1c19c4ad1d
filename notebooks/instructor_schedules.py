"""Write the minutes of the schedules in instructor.md, as the chapters state them.

`make chapters` runs it. A row of a schedule is ``| Day 1 | 00, 02 | 150 |``.
"""

from __future__ import annotations

import re
import sys

import course_chapters

PAGE = course_chapters.FOLDER / "instructor.md"
ROW = re.compile(r"^\| ([^|]+) \| (\d\d[a-z]?(?:, \d\d[a-z]?)*) \| \d+ \|$", re.M)


def with_minutes(page: str) -> str:
    """Return the page with the minutes of its rows."""
    minutes = {each.label: each.minutes for each in course_chapters.chapters()}

    def row(found: re.Match[str]) -> str:
        total = sum(minutes[label] for label in found[2].split(", "))
        return f"| {found[1]} | {found[2]} | {total} |"

    return ROW.sub(row, page)


def main() -> int:
    """Write the page."""
    PAGE.write_text(with_minutes(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
