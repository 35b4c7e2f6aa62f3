"""For the site: links to files of the repository that are no pages become their path, as text."""

from __future__ import annotations

import re

_OUTSIDE = re.compile(
    r"\[([^\]]*)\]\(((?:\.\./)+[^)#]*|studies/openb/[^)]*|examples/[^)]*|go/[^)]*|ci/[^)]*|images/\w+\.py|notebooks/[^)]*)(?:#[^)]*)?\)"
)


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Called by mkdocs for every page."""
    inside = str(page.file.src_uri).count("/")  # type: ignore[attr-defined]

    def shown(link: re.Match[str]) -> str:
        path = link[2]
        # Below studies/, one step up is still the site.
        return (
            link[0]
            if path.startswith("../") and inside and not path.startswith("../../")
            else f"{link[1]} (`{path.lstrip('./')}`)"
        )

    return _OUTSIDE.sub(shown, markdown)
