"""How news travels leftwards through the layers without an import.

A setting lists dotted paths, as MIDDLEWARE does; each is called with the new row, in
order, inside the transaction that stores it. A sink that fails is logged and undone
by itself: it can neither lose the row nor keep the next sink from being called.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import models, transaction
from django.utils.module_loading import import_string

log = logging.getLogger(__name__)


def notify(setting: str, row: models.Model) -> None:
    """Call each sink that the setting named ``setting`` lists with ``row``."""
    for path in getattr(settings, setting):
        sink = import_string(path)
        try:
            with transaction.atomic():
                sink(row)
        except Exception:
            log.exception("sink %s failed for %s", path, row)
