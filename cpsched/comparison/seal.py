"""The seal of remembered optima: a proof cannot be checked by reading it, so only what this user wrote is believed.

The seal is made with a key that lies outside the folder of optima: to write into that folder is not enough.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cpsched.files import own_secret

KEY_FILE = "key"


def seal_of(folder: Path, content: Mapping[str, Any]) -> str:
    """The seal under the key in this folder, which is made if there is none."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hmac.new(own_secret(folder / KEY_FILE), text.encode(), hashlib.sha256).hexdigest()
