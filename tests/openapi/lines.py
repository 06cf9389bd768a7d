"""Documents in lines are texts as they are: schemathesis knows no such media type."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context: object, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
