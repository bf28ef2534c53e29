"""The one WebSocket: it forwards frames to people who are signed in."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from channels.auth import get_user
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.utils import timezone

from dashboard import live, payloads

SIGN_IN = 4401
"""Close code that tells the page to go to the sign-in form."""


class LiveConsumer(AsyncWebsocketConsumer):
    """Sends ``payloads.FramePayload`` as JSON; an empty one at once and on each ping,
    so that a page knows the line and the server's clock."""

    async def connect(self) -> None:
        await self.accept()
        if not await self._signed_in():
            await self.close(SIGN_IN)
            return
        await self.channel_layer.group_add(live.GROUP, self.channel_name)
        await self.frame({"frame": payloads.frame(timezone.now())})

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(live.GROUP, self.channel_name)

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        """Anything that a page says is a ping; each asks anew who is there, so that
        a socket ends soon after its sign-in does."""
        if not await self._signed_in():
            await self.close(SIGN_IN)
            return
        await self.frame({"frame": payloads.frame(timezone.now())})

    async def frame(self, event: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(event["frame"], separators=(",", ":")))

    async def _signed_in(self) -> bool:
        engine = import_module(settings.SESSION_ENGINE)
        session = engine.SessionStore(self.scope["session"].session_key)
        user = await get_user({**self.scope, "session": session})
        return bool(user.is_authenticated and user.is_active)
