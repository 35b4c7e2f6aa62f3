"""A command whose options are given once each, unless they may be repeated: none is dropped in silence."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand

from cpsched.errors import InputError


class Command(TyperCommand):
    """Typer's command, which alone takes the last of several."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(given).items():
            if times > 1 and not getattr(option, "multiple", True):
                right = f"give it once; see {ctx.command_path} --help"
                raise InputError(f"{'/'.join(option.opts)} is given {times} times", right=right)
        return super().parse_args(ctx, args)
