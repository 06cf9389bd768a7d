"""What schemathesis does not know by itself: documents in lines are texts as they are, and the code of every error is listed
for its operation at its status."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context: object, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.check
def listed_error_codes(ctx, response, case):
    if response.status_code < 400 or not response.headers.get("content-type", [""])[0].startswith("application/json"):
        return
    code = response.json().get("code")
    # A path that fits no expression of a capture is none of the operation's.
    if code == "rest_no_route":
        return
    described = case.operation.definition.raw["responses"].get(str(response.status_code), {})
    content = described.get("content", {}).get("application/json", {})
    listed = content.get("schema", {}).get("properties", {}).get("code", {}).get("examples", [])
    assert code in listed, f"{response.status_code} {code} is not listed"
