"""Reports: the terminal tables and the one self-contained HTML page about a folder of runs."""

from trainmark.report.html import render_html, write_html
from trainmark.report.load import load
from trainmark.report.session import SessionReport, session_to_dict
from trainmark.report.terminal import print_session

__all__ = [
    "SessionReport",
    "load",
    "print_session",
    "render_html",
    "session_to_dict",
    "write_html",
]
