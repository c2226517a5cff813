"""Sends what the official Python client sends, with the same library, and prints each answer as a line of JSON.

Usage: python_wire.py BASE_URL TOKEN CA_PEM
"""

import json
import sys

import requests

base_url, token, ca_pem = sys.argv[1:4]
headers = {"ngrok-version": "2", "authorization": "Bearer " + token}


def call(method, path, payload=None):
    """None at the top of a payload is left out, and an empty payload is no body."""
    body = {k: v for k, v in payload.items() if v is not None} if payload else None
    answer = requests.request(method, base_url + path, headers=headers, json=body)
    result = None if answer.status_code == 204 else answer.json()
    print(json.dumps({"call": method + " " + path, "status": answer.status_code, "body": result}))
    return result


empty = {"description": "", "metadata": ""}
key = call("post", "/api_keys", dict(empty, owner_id=None))
call("patch", "/api_keys/" + key["id"], {"description": None, "metadata": None})
policy = call("post", "/ip_policies", empty)
rule = dict(empty, cidr="2001:0DB8:7::/48", ip_policy_id=policy["id"], action="allow")
call("post", "/ip_policy_rules", rule)
restriction = dict(empty, enforced=False, type="endpoints", ip_policy_ids=[policy["id"]])
made = call("post", "/ip_restrictions", restriction)
call("patch", "/ip_restrictions/" + made["id"], {"enforced": None, "ip_policy_ids": []})
backend = call("post", "/backends/static", dict(empty, address="127.0.0.1:9", tls={"enabled": None}))
call("patch", "/backends/static/" + backend["id"], {"description": "changed", "address": ""})
edge = call("post", "/edges/https", dict(empty, hostports=None, mutual_tls=None, tls_termination=None))
routes = "/edges/https/" + edge["id"] + "/routes"
texts = {"description": "kept", "metadata": "kept"}
module = {"backend_id": backend["id"], "enabled": None}
route = call("post", routes, dict(texts, match_type="path_prefix", match="/", backend=module))
one = routes + "/" + route["id"]
headers_module = {"add": {"a": "b"}, "remove": None, "enabled": None}
nothing = dict(empty, match_type="", match="", oauth=None)
call("patch", one, dict(nothing, request_headers=headers_module))
call("put", one + "/response_headers", {})
call("delete", one + "/oauth", {})
fixed = call("post", "/backends/http_response", dict(empty, body="", headers={}, status_code=None))
call("patch", "/backends/http_response/" + fixed["id"], {"body": "later", "headers": None})
failover = call("post", "/backends/failover", dict(empty, backends=[backend["id"], fixed["id"]]))
call("patch", "/backends/failover/" + failover["id"], {"description": "changed", "backends": []})
weighted = call("post", "/backends/weighted", dict(empty, backends={failover["id"]: 3}))
call("patch", "/backends/weighted/" + weighted["id"], {"description": "changed", "backends": {}})
for name in ("http_response", "failover", "weighted"):
    call("get", "/backends/" + name)
authority = call("post", "/certificate_authorities", dict(empty, ca_pem=ca_pem))
call("patch", "/certificate_authorities/" + authority["id"], {"description": "changed", "metadata": None})
asking = {"enabled": None, "certificate_authority_ids": [authority["id"]]}
call("put", "/edges/https/" + edge["id"] + "/mutual_tls", asking)
call("put", "/edges/https/" + edge["id"] + "/tls_termination", {"enabled": None, "min_version": "1.3"})
ending = {"enabled": None, "terminate_at": "edge", "min_version": None}
tls = dict(empty, hostports=["db.example.com:443"], backend=module, ip_restriction=None, mutual_tls=asking)
tls_edge = call("post", "/edges/tls", dict(tls, tls_termination=ending, traffic_policy=None))
call("patch", "/edges/tls/" + tls_edge["id"], dict(empty, description="changed", hostports=None))
breaker = {"tripped_duration": 10, "rolling_window": 10, "num_buckets": 10, "volume_threshold": 10}
call("put", one + "/circuit_breaker", dict(breaker, enabled=None, error_threshold_percentage=0.5))
slack = {"enabled": None, "provider": "slack", "secret": "for slack"}
# What was read is written back as it is.
call("put", one + "/webhook_verification", call("put", one + "/webhook_verification", slack))
call("put", one + "/websocket_tcp_converter", {"enabled": None})
call("put", one + "/user_agent_filter", {"enabled": None, "allow": [], "deny": ["^curl/"]})
times = {"options_passthrough": False, "cookie_prefix": "", "inactivity_timeout": 0, "maximum_duration": 0}
oidc = dict(times, issuer="https://id.example.com", client_id="a", client_secret="b", scopes=[], enabled=None)
call("put", one + "/oidc", oidc)
call("delete", one + "/oidc", {})
google = {"client_id": "a", "client_secret": "b", "scopes": [], "email_addresses": [], "email_domains": []}
call("put", one + "/oauth", dict(times, enabled=None, auth_check_interval=0, provider={"github": None, "google": google}))
for name in ("circuit_breaker", "webhook_verification", "websocket_tcp_converter", "user_agent_filter", "oauth"):
    call("get", one + "/" + name)
    call("delete", one + "/" + name, {})
call("get", "/app/users")
call("get", "/app/sessions")
call("delete", "/edges/tls/" + tls_edge["id"], {})
call("get", "/service_users")
call("get", "/vaults")
call("delete", "/edges/https/" + edge["id"], {})
