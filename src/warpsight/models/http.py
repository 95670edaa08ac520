"""One model behind HTTP: sends a wire format's body, reads the answer under limits, asks again where that makes sense.

Covers time-outs, connections that break, 429 and 5xx with Retry-After, streams cut in the middle, answers that are too
large, and requests whose seconds are over. Does not cover several providers at once or queues. What must stay true:
usage is counted for the accepted reply alone; what broken attempts are known to have used is `wasted`; a redirect is
never followed, so that the key goes nowhere else; no error holds the key.
"""

from __future__ import annotations

import logging
import random
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import NoReturn

import httpx2

from warpsight.models.deadline import cut_off
from warpsight.models.errors import BadReply, ModelError, ModelRefused, ModelUnavailable, ReplyTooLarge
from warpsight.models.key import ApiKey, is_loopback
from warpsight.models.model import OnText, Reply, Request, Usage, add_usage
from warpsight.models.prices import Price, priced
from warpsight.models.retry import Patience, asked_wait_s, wait_s, worth_again
from warpsight.models.sse import events
from warpsight.models.verbatim import dump
from warpsight.models.wire import Assembler, CallWay, ProviderFault, WireFormat, at, json_of, shown, text_at

CAP_BYTES = 10 << 20
# Every token of a stream comes with a few hundred bytes around it.
STREAM_FACTOR = 16
FAULT_BYTES = 64 << 10
# What a server says to a request that has fields it does not take.
WAY_REFUSED = frozenset({400, 404, 415, 422, 501})
# llama.cpp says 500 to fields that its settings rule out.
_ABOUT_FIELDS = re.compile(r"jinja|tool_choice|\btools\b|grammar|json_schema|response_format")
EARLY_S = 0.05  # a read that times out does so a little before or after its time


class TryAgain(Exception):
    """An attempt failed in a way that may pass. `usage` is what it is known to have used."""

    def __init__(self, message: str, asked_s: float | None = None, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.asked_s = asked_s
        self.usage = usage or Usage()


class Heard:
    """Hands on the text of one attempt, and keeps it."""

    def __init__(self, on_text: OnText | None) -> None:
        self.text = ""
        self._on_text = on_text

    def __call__(self, piece: str) -> None:
        self.text += piece
        if self._on_text is not None:
            self._on_text(piece)


class HttpModel:
    """A Model over HTTP. Safe to use from several threads."""

    def __init__(
        self,
        name: str,
        wire: WireFormat,
        base_url: str,
        key: ApiKey | None,
        *,
        stream: bool = True,
        patience: Patience | None = None,
        price: Price | None = None,
        cap_bytes: int = CAP_BYTES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self._wire = wire
        self._ways = wire.ways
        self._url = base_url + wire.path
        self._key = key
        self._stream = stream
        self._patience = patience or Patience()
        self._price = price
        self._cap_bytes = cap_bytes
        self._sleep = sleep
        # At DEBUG it logs every header that comes, and a server may send back what it was sent.
        logging.getLogger("httpcore2").setLevel(logging.WARNING)
        # A proxy of the environment is for the outside, not for a server on this machine.
        near = is_loopback(httpx2.URL(base_url).host)
        # Certificates take 0.1 s to read, and plain HTTP has none.
        secure = base_url.startswith("https:")
        self._client = httpx2.Client(follow_redirects=False, trust_env=not near, verify=secure)

    def __repr__(self) -> str:
        return f"HttpModel({self.name!r}, {self._url!r}, {self._key!r})"

    def close(self) -> None:
        self._client.close()

    def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Ask until a reply is accepted, its seconds or our patience end, or the provider says no.

        A call that must come is asked for in the strictest way that the server takes; that is kept for later."""
        if not (request.must_call and request.tools):
            return self._reply(request, "asked", on_text)
        first: ModelRefused | None = None
        for way in self._ways:
            try:
                reply = self._reply(request, way, on_text)
            except ModelRefused as problem:
                if problem.status not in WAY_REFUSED:
                    raise
                first = first or problem
            else:
                self._ways = (way,)
                return reply
        assert first is not None
        raise first

    def _reply(self, request: Request, way: CallWay, on_text: OnText | None) -> Reply:
        body = self._wire.body(request, model=self.name, stream=self._stream, way=way).encode()
        began = time.monotonic()
        late_at = began + (float("inf") if request.seconds is None else request.seconds)
        ends_at = min(late_at, began + self._patience.total_s)
        wasted, same = Usage(), uuid.uuid4().hex
        for attempt in range(1, self._patience.attempts + 1):
            heard = Heard(on_text)
            try:
                reply = self._attempt(body, same, ends_at, heard)
            except TryAgain as problem:
                if time.monotonic() >= late_at - EARLY_S:
                    return self._late(heard.text, problem.usage, wasted, attempt)
                wasted = add_usage(wasted, priced(problem.usage, self._price))
                self._wait(attempt, problem, ends_at, wasted)
                continue
            except ModelError as problem:
                problem.usage, problem.wasted = priced(problem.usage, self._price), wasted
                raise
            usage = priced(reply.usage, self._price)
            return reply.model_copy(update={"usage": usage, "wasted": wasted, "attempts": attempt})
        raise AssertionError("the last attempt either returns or raises")

    def _late(self, text: str, usage: Usage, wasted: Usage, attempt: int) -> Reply:
        """What came before the seconds were over. What it cost is known only if the provider had said so by then."""
        known = usage if usage != Usage() else Usage(known=False)
        reply = Reply(
            text=text,
            raw=dump({"text": text}),
            wire=self._wire.name,
            usage=priced(known, self._price) if known.known else known,
            stop_reason="time",
            wasted=wasted,
            attempts=attempt,
        )
        return self._accepted(reply, None)

    def _wait(self, attempt: int, problem: TryAgain, ends_at: float, wasted: Usage) -> None:
        """Wait before the next attempt, or give up."""
        wait = wait_s(self._patience, attempt, problem.asked_s, random.random())
        left_s = ends_at - time.monotonic()
        if attempt == self._patience.attempts or wait > left_s:
            asked = "" if problem.asked_s is None else f"; it asks to wait {problem.asked_s:.0f} s"
            raise ModelUnavailable(
                f"{self._url} gave no reply in {attempt} attempt{'s'[: attempt > 1]}: {problem.message}{asked}",
                hint="check the address and the server, or try later",
                wasted=wasted,
            )
        self._sleep(wait)

    def _attempt(self, body: bytes, same: str, ends_at: float, on_text: OnText) -> Reply:
        """One request. The reason of a failure is told in our words: the client's own errors hold the headers."""
        problem: TryAgain | None = None
        try:
            with (
                self._client.stream(
                    "POST", self._url, content=body, headers=self._headers(same), timeout=self._timeout(ends_at)
                ) as response,
                cut_off(response.extensions, ends_at),
            ):
                return self._read(response, ends_at, on_text)
        except httpx2.ConnectTimeout:
            problem = TryAgain(f"no connection within {self._patience.connect_s:g} s")
        except httpx2.TimeoutException:
            problem = TryAgain(f"nothing came for {self._patience.read_s:g} s")
        except httpx2.TransportError as failure:
            problem = TryAgain(self._redact(f"the connection failed: {failure}"))
        except httpx2.HTTPError as failure:
            problem = TryAgain(self._redact(f"the request failed: {type(failure).__name__}"))
        raise problem

    def _headers(self, same: str) -> dict[str, str]:
        """Attempts for one reply share a key, by which a server that knows it can tell them from two questions."""
        return {
            "Content-Type": "application/json",
            "Accept": "text/event-stream" if self._stream else "application/json",
            "Accept-Encoding": "identity",
            "Idempotency-Key": same,
            **self._wire.headers(self._key),
        }

    def _timeout(self, ends_at: float) -> httpx2.Timeout:
        left_s = max(0.001, ends_at - time.monotonic())
        connect_s, read_s = min(self._patience.connect_s, left_s), min(self._patience.read_s, left_s)
        return httpx2.Timeout(connect=connect_s, read=read_s, write=read_s, pool=connect_s)

    def _read(self, response: httpx2.Response, ends_at: float, on_text: OnText) -> Reply:
        if response.status_code != 200:
            self._raise_status(response, ends_at)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise BadReply("expected an answer that is not compressed", hint="check what stands before the server")
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        cap = self._cap_bytes * (STREAM_FACTOR if is_stream else 1)
        chunks = _bounded(response.iter_raw(), cap, ends_at)
        # Raised after the handlers: what a handler raises keeps the first error, and that may hold the key.
        try:
            reply = self._assemble(chunks, on_text) if is_stream else self._wire.read(b"".join(chunks).decode())
        except UnicodeDecodeError:
            failure = BadReply("expected UTF-8 in the answer, got other bytes", hint="check the base URL")
        except ProviderFault as fault:
            told = self._told(fault.message)
            failure = TryAgain(told) if fault.again else ModelRefused(f"{self._url} refused: {told}")
        except BadReply as problem:
            failure = self._clean(problem)
        else:
            return self._accepted(reply, on_text if not is_stream else None)
        raise failure

    def _clean(self, problem: BadReply) -> BadReply:
        """The same error without the key, and without the one it came from."""
        problem.message = self._redact(problem.message)
        problem.args = (problem.message,)
        problem.__context__ = None
        return problem

    def _assemble(self, chunks: Iterable[bytes], on_text: OnText) -> Reply:
        """Read a stream to its end. One that breaks off before its announced end is a failed attempt."""
        assembler = self._wire.assembler()
        try:
            for event in events(chunks):
                piece = assembler.feed(event)
                if piece:
                    on_text(piece)
        except (httpx2.TransportError, ProviderFault, TryAgain) as problem:
            if assembler.complete:
                return assembler.reply()  # everything came; only the farewell is missing
            raise self._cut(assembler, problem) from None
        if not assembler.complete:
            raise self._cut(assembler, None)
        return assembler.reply()

    def _cut(self, assembler: Assembler, problem: Exception | None) -> Exception:
        if isinstance(problem, ProviderFault) and not problem.again:
            return problem
        why = self._told(str(problem)) if problem is not None else "it ended"
        usage = assembler.usage()
        return TryAgain(f"the stream broke off before the reply was complete: {why}", usage=usage)

    def _accepted(self, reply: Reply, on_text: OnText | None) -> Reply:
        if len(reply.raw) > self._cap_bytes:
            raise too_large(self._cap_bytes)
        if self._key is not None and self._key.is_in(reply.raw):
            raise BadReply("the reply holds the API key; it was not kept", usage=reply.usage)
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply

    def _raise_status(self, response: httpx2.Response, ends_at: float) -> NoReturn:
        status, text = response.status_code, _beginning(response, ends_at)
        told = self._told(_fault_text(text))
        about_fields = status in (500, 501) and _ABOUT_FIELDS.search(text) is not None
        if worth_again(status) and "insufficient_quota" not in text and not about_fields:
            raise TryAgain(f"HTTP {status}: {told}", asked_wait_s(response.headers, datetime.now(UTC)))
        if status in (401, 403):
            hint = f"check the key in {self._key.variable}" if self._key else "name a key with --api-key-env"
        elif 300 <= status < 400:
            hint = "give the final address as base URL: redirects are not followed"
        else:
            hint = "check the model's name and the base URL"
        refused = ModelRefused(f"{self._url} refused with HTTP {status}: {told}", hint=hint)
        refused.status = 400 if about_fields else status
        raise refused

    def _told(self, text: str) -> str:
        return shown(self._redact(text), 400)

    def _redact(self, text: str) -> str:
        return text if self._key is None else self._key.redact(text)


def too_large(cap_bytes: int) -> ReplyTooLarge:
    return ReplyTooLarge(
        f"expected an answer of at most {cap_bytes / (1 << 20):g} MiB, it is larger; reading stopped there",
        hint="ask for fewer tokens",
    )


def _bounded(chunks: Iterable[bytes], cap_bytes: int, ends_at: float) -> Iterator[bytes]:
    """The chunks, until there are too many bytes or the time is up."""
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > cap_bytes:
            raise too_large(cap_bytes)
        if time.monotonic() > ends_at:
            raise TryAgain("the time for this reply is up")
        yield chunk


def _beginning(response: httpx2.Response, ends_at: float) -> str:
    """What an error page says, at most its first part; a page that cannot be read says nothing."""
    found = b""
    try:
        for chunk in _bounded(response.iter_raw(), FAULT_BYTES, ends_at):
            found += chunk
    except (httpx2.HTTPError, TryAgain, ReplyTooLarge):
        pass
    return found.decode(errors="replace")


def _fault_text(text: str) -> str:
    try:
        value = json_of(text, "an error")
    except BadReply:
        return text
    return text_at(value, "error", "message") or text_at(at(value, "error")) or text_at(value, "message") or text
