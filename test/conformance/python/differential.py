"""Send requests made from a server's OpenAPI description to two addresses of it and compare the answers byte for byte.

usage: differential.py DIRECT THROUGH SEED COUNT

Half of the COUNT requests keep to the description and half break it. Each goes to both addresses with the same Host and the same session
cookie. Status, phrase, fields (in order, with their case) and the body as it came over the wire are compared; only two values are set aside
that carry the clock: that of Date, and the time stamp and signature behind the session that Set-Cookie holds. Prints one JSON document.
"""

import json
import re
import sys

import hypothesis
import requests
import schemathesis
from hypothesis import strategies
from schemathesis import GenerationMode

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}
CLOCKS = {"date": re.compile(r"^\w{3}, .* GMT$"), "set-cookie": re.compile(r"\.[\w-]+\.[\w-]+;")}


def ask(session, base: str, case, host: str, cookie: str) -> dict:
    sent = case.as_transport_kwargs(base_url=base)
    sent["headers"] = {**dict(sent.get("headers") or {}), "Host": host, "Cookie": cookie}
    sent.pop("cookies", None)
    with session.request(**sent, stream=True, allow_redirects=False, timeout=60) as answer:
        fields = [
            [name, CLOCKS[name.lower()].sub("a clock", value) if name.lower() in CLOCKS else value]
            for name, value in answer.raw.headers.iteritems()
            if name.lower() not in HOP_BY_HOP
        ]
        body = answer.raw.read(decode_content=False)
        return {"status": answer.status_code, "reason": answer.reason, "fields": fields, "body": body.decode("latin-1")}


def main() -> None:
    direct, through, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    session = requests.Session()
    session.trust_env = False
    schema = schemathesis.openapi.from_dict(session.get(f"{direct}/openapi.json").json())
    operations = [result.ok() for result in schema.get_all_operations()]
    host = direct.removeprefix("http://")
    cookie = session.post(f"{direct}/seed_session", json={}).headers.get("set-cookie", "").split(";")[0]
    statuses: dict[int, int] = {}
    differences = []

    def compare(case) -> None:
        session.cookies.clear()
        answers = [ask(session, base, case, host, cookie) for base in (direct, through)]
        statuses[answers[0]["status"]] = statuses.get(answers[0]["status"], 0) + 1
        if answers[0] != answers[1]:
            differences.append({"case": case.as_curl_command(), "direct": answers[0], "through": answers[1]})

    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        made = strategies.one_of([operation.as_strategy(generation_mode=mode) for operation in operations])
        settings = hypothesis.settings(
            max_examples=count // 2,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.seed(seed)(settings(hypothesis.given(made)(compare)))()
    print(json.dumps({"compared": sum(statuses.values()), "statuses": statuses, "differences": differences}))


if __name__ == "__main__":
    main()
