"""A real Chromium without a network: any request, dialog, console message or error of a page fails its test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
Open = Callable[..., Page]
PATIENCE = 500_000
"""Milliseconds; a page that never comes so far fails its test, a busy machine does not."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is installed; `make browser` installs one as root")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as driver:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=program, args=arguments, timeout=PATIENCE)
        yield started
        started.close()


@pytest.fixture
def page_of(browser: Browser) -> Iterator[Open]:
    """Opens a file; whatever it did besides showing itself is stated at the end of the test."""
    contexts: list[BrowserContext] = []
    wrongs: list[str] = []

    def open_page(file: Path, *, width: int = 1280, scheme: str = "light") -> Page:
        context = browser.new_context(
            offline=True,
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
        page = context.new_page()
        page.on("request", lambda request: wrongs.append(request.url) if request.url != file.as_uri() else None)
        page.on("console", lambda message: wrongs.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrongs.append(str(error)))
        page.on("dialog", lambda dialog: (wrongs.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrongs == []
