from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Literal, NotRequired, Self, TypeAlias, TypedDict, TypeVar, final, overload
from urllib.parse import quote, urlencode

import httpx

T = TypeVar("T")

#: Relations whose documents are embedded; `True` embeds all that can be.
Embed: TypeAlias = Sequence[str] | Literal[True] | None


@dataclass(frozen=True)
class File:
    """A file that is uploaded."""

    name: str
    content: bytes
    media_type: str = "application/octet-stream"


@dataclass(frozen=True)
class Answer(Generic[T]):
    """A response."""

    status: int
    data: T
    #: The entity tag, for `if_match` and `if_none_match`.
    etag: str | None
    #: How many documents and pages a collection has.
    total: int | None
    pages: int | None
    headers: httpx.Headers


class Imported(TypedDict):
    """What became of a document that was imported."""

    #: Its place among the documents, from 0.
    position: int
    status: int
    result: Literal["created", "updated", "unchanged", "failed"]
    id: NotRequired[int | str]
    #: Properties whose references lead to nothing yet.
    deferred: NotRequired[list[str]]
    error: NotRequired[dict[str, Any]]


class Failure(Exception):
    """An error of the server. The codes that an operation may fail with are in its `…Error`."""

    def __init__(self, status: int, code: str, message: str, data: Any) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.data = data


class NotModified(Exception):
    """The document still has the entity tag of `if_none_match`."""


class Transport:
    """Sends requests; it knows no operation.

    `base`: address of the REST base, such as `https://example.org/cms-json`. `user`, `password`: a login name and an
    application password. `retries`: attempts after 429 and 503, with the pause that the server names, in seconds.
    """

    def __init__(
        self,
        base: str,
        user: str | None = None,
        password: str | None = None,
        *,
        retries: int = 3,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base = base.rstrip("/")
        self._auth = None if user is None else httpx.BasicAuth(user, password or "")
        self._retries = retries
        self._http = http or httpx.Client()
        self._sleep = sleep

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def each_page(self, answer: Answer[list[T]]) -> Iterator[Answer[list[T]]]:
        """A page of a collection and all pages after it, as the `Link` headers lead to them."""
        while True:
            yield answer
            found = re.search(r'<([^>]*)>;\s*rel="next"', answer.headers.get("link", ""))
            if found is None:
                return
            address, own = httpx.URL(found[1]), httpx.URL(self._base)
            # Credentials are sent to the service alone, whatever a response links to.
            if (address.scheme, address.host, address.port) != (own.scheme, own.host, own.port):
                raise Failure(0, "foreign_address", f"{address} is not an address of this service.", None)
            answer = self._fetch("GET", str(address), {}, {})

    def each(self, answer: Answer[list[T]]) -> Iterator[T]:
        """All documents of a collection from this page on."""
        for page in self.each_page(answer):
            yield from page.data

    def _call(
        self,
        method: str,
        path: str,
        params: Mapping[str, object],
        *,
        query: Mapping[str, object] | None = None,
        context: str | None = None,
        fields: Sequence[str] | None = None,
        embed: Embed = None,
        body: Any = None,
        form: bool = False,
        if_match: str | None = None,
        if_none_match: str | None = None,
    ) -> Answer[Any]:
        address = self._address(path, params, query, context, fields, embed)
        conditions = {"if-match": if_match, "if-none-match": if_none_match}
        headers = {name: tag for name, tag in conditions.items() if tag is not None}
        content: dict[str, Any] = {}
        if body is not None and form:
            files = {name: value for name, value in body.items() if isinstance(value, File)}
            content["files"] = {name: (file.name, file.content, file.media_type) for name, file in files.items()}
            content["data"] = {name: _text(value) for name, value in body.items() if name not in files}
        elif body is not None:
            content["json"] = body
        return self._fetch(method, address, headers, content)

    def _address(
        self,
        path: str,
        params: Mapping[str, object],
        query: Mapping[str, object] | None,
        context: str | None,
        fields: Sequence[str] | None,
        embed: Embed,
    ) -> str:
        for name, value in params.items():
            path = path.replace("{" + name + "}", quote(_text(value), safe=""))
        pairs: list[tuple[str, str]] = []
        shaping = {"context": context, "_fields": fields, "_embed": "1" if embed is True else embed}
        for name, value in [*(query or {}).items(), *shaping.items()]:
            _append(pairs, name, value)
        return self._base + path + ("?" + urlencode(pairs) if pairs else "")

    def _export(
        self,
        path: str,
        params: Mapping[str, object],
        *,
        query: Mapping[str, object] | None = None,
        context: str | None = None,
        fields: Sequence[str] | None = None,
        embed: Embed = None,
    ) -> Iterator[Any]:
        address = self._address(path, params, query, context, fields, embed)
        attempt = 0
        while True:
            with self._http.stream("GET", address, headers={"accept": _LINES}, auth=self._auth) as response:
                if response.is_success:
                    yield from (json.loads(line) for line in response.iter_lines() if line)
                    return
                response.read()
                if attempt >= self._retries or not _is_worth_another(response):
                    _answered(response)
                    return
                pause = _pause(response)
            attempt += 1
            self._sleep(pause)

    def _import(
        self,
        path: str,
        params: Mapping[str, object],
        documents: Iterable[Mapping[str, object]],
        *,
        query: Mapping[str, object] | None = None,
    ) -> Iterator[Imported]:
        address = self._address(path, params, query, None, None, None)
        position = 0
        for count, content in _batches(documents):
            answer = self._fetch("POST", address, {"content-type": _LINES}, {"content": content})
            for line in answer.data.splitlines():
                result = json.loads(line)
                # A full request ends with the place at which another one would go on.
                if "position" in result:
                    result["position"] += position
                    yield result
            position += count

    def _fetch(self, method: str, address: str, headers: dict[str, str], content: dict[str, Any]) -> Answer[Any]:
        attempt = 0
        while True:
            response = self._http.request(method, address, headers=headers, auth=self._auth, **content)
            if attempt >= self._retries or not _is_worth_another(response):
                return _answered(response)
            attempt += 1
            self._sleep(_pause(response))


#: Media type of JSON documents in lines.
_LINES = "application/x-ndjson"

#: Most documents, and bytes of them, in a request.
_MOST_DOCUMENTS = 1000
_MOST_BYTES = 4 << 20


def _batches(documents: Iterable[Mapping[str, object]]) -> Iterator[tuple[int, bytes]]:
    """Documents as the bodies of requests."""
    lines: list[bytes] = []
    size = 0
    for document in documents:
        lines.append(json.dumps(document).encode() + b"\n")
        size += len(lines[-1])
        if len(lines) == _MOST_DOCUMENTS or size >= _MOST_BYTES:
            yield len(lines), b"".join(lines)
            lines, size = [], 0
    if lines:
        yield len(lines), b"".join(lines)


def _is_worth_another(response: httpx.Response) -> bool:
    """The server is busy. Where it does not know whether a change was made, nothing is sent again."""
    if response.status_code not in (429, 503):
        return False
    error = _error(response)
    return error.get("code") != "rest_outcome_unknown"


def _pause(response: httpx.Response) -> float:
    """Seconds, at most a minute."""
    text = response.headers.get("retry-after", "")
    return min(float(text), 60.0) if text.isdecimal() else 1.0


def _error(response: httpx.Response) -> Mapping[str, Any]:
    try:
        error = response.json()
    except ValueError:
        return {}
    return error if isinstance(error, dict) else {}


def _answered(response: httpx.Response) -> Answer[Any]:
    if response.status_code == 304:
        raise NotModified
    if not response.is_success:
        error = _error(response)
        message = str(error.get("message", response.reason_phrase))
        raise Failure(response.status_code, str(error.get("code", "unknown")), message, error.get("data"))
    media_type = response.headers.get("content-type", "")
    is_json = "json" in media_type and _LINES not in media_type
    data = response.json() if is_json else response.content

    def number(end: str) -> int | None:
        return next((int(value) for name, value in response.headers.items() if name.endswith(end)), None)

    etag = response.headers.get("etag")
    return Answer(response.status_code, data, etag, number("-total"), number("-totalpages"), response.headers)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, dict, list)):
        return json.dumps(value)
    return str(value)


def _append(pairs: list[tuple[str, str]], name: str, value: object) -> None:
    """Lists are written with brackets, so that a comma in a value separates nothing; objects by their members."""
    if value is None:
        return
    if isinstance(value, Mapping):
        for member, one in value.items():
            _append(pairs, f"{name}[{member}]", one)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for one in value:
            _append(pairs, f"{name}[]", one)
    else:
        pairs.append((name, _text(value)))
