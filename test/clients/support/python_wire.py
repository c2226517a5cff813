"""Sends what the official Python client sends, with the same library, and prints each answer as a line of JSON.

Usage: python_wire.py BASE_URL TOKEN
"""

import json
import sys

import requests

base_url, token = sys.argv[1:3]
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
call("get", "/service_users")
call("get", "/vaults")
call("delete", "/edges/https/" + edge["id"], {})
