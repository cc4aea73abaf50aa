# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Formats of a report: report in, text out."""

from __future__ import annotations

from . import html, json, junit, markdown

# What can be written to preflight_report_dir, by the ending of the file's name.
FILES = {"json": json.write, "html": html.write, "xml": junit.write, "md": markdown.write}
