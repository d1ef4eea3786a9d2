#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the server answers against its own OpenAPI document, with python3-jsonschema.

check_openapi.py PROGRAM SAMPLE
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

import jsonschema

DIALECT = jsonschema.Draft202012Validator


def refs(node):
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for value in node.values():
            yield from refs(value)
    elif isinstance(node, list):
        for value in node:
            yield from refs(value)


def check_document(document):
    assert document["openapi"].startswith("3.1.")
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        DIALECT.check_schema(schema)
        assert re.fullmatch(r"[A-Za-z]+", name), name
    for ref in refs(document):
        assert ref.rsplit("/", 1)[1] in schemas and ref.startswith("#/components/schemas/"), ref
    names = []
    for path, item in document["paths"].items():
        for operation in item.values():
            names.append(operation["operationId"])
            declared = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
            assert declared == set(re.findall(r"{(\w+)}", path)), path
            assert "default" in operation["responses"], path
    assert len(names) == len(set(names))


class Server:
    def __init__(self, base):
        self.base = base
        self.document = json.loads(self.get("/api/v1/openapi.json")[1])

    def get(self, path, accept="application/json"):
        request = urllib.request.Request(self.base + path, headers={"Accept": accept})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read(), answer.headers["Content-Type"]
        except urllib.error.HTTPError as error:
            return error.code, error.read(), error.headers["Content-Type"]

    def validator(self, schema):
        return DIALECT({**schema, "components": self.document["components"]})

    def check(self, template, path, status=200):
        found, body, kind = self.get(path)
        assert found == status, (path, found, body)
        responses = self.document["paths"][template]["get"]["responses"]
        schema = responses.get(str(status), responses["default"])["content"][kind]["schema"]
        value = json.loads(body)
        self.validator(schema).validate(value)
        return value


def check_answers(server):
    run = server.check("/api/v1/runs", "/api/v1/runs?limit=1")["runs"][0]
    one = "/api/v1/runs/" + run["digest"]
    server.check("/api/v1/runs/{id}", one)
    server.check("/api/v1/runs/{id}", "/api/v1/runs/sol-execbench:submission/15866")
    for part in ("evidence", "provenance", "bundle"):
        server.check("/api/v1/runs/{id}/" + part, one + "/" + part)
    server.check("/api/v1/groups/{key}", "/api/v1/groups/" + run["comparisonKey"])
    server.check("/api/v1/records", "/api/v1/records")
    operation = server.check("/api/v1/operations", "/api/v1/operations")["operations"][0]["digest"]
    shown = server.check("/api/v1/operations/{id}", "/api/v1/operations/" + operation)
    server.check("/api/v1/implementations", "/api/v1/implementations")
    server.check("/api/v1/implementations/{id}", "/api/v1/implementations/" + run["implementation"])
    server.check("/api/v1/manifests/{id}", "/api/v1/manifests/" + run["workload"])
    server.check("/api/v1/documents/{digest}",
                 "/api/v1/documents/" + shown["documents"][0]["digest"])
    server.check("/api/v1/search", "/api/v1/search?q=databricks")
    group = server.check("/api/v1/groups/{key}", "/api/v1/groups/" + run["comparisonKey"])
    if len(group["runs"]) > 1:
        server.check("/api/v1/compare", "/api/v1/compare?run=" +
                     "&run=".join(r["digest"] for r in group["runs"][:2]))
    server.check("/api/v1/log", "/api/v1/log")
    server.check("/api/v1/entries/{index}", "/api/v1/entries/3")
    for path in ("/api/v1/runs/ffffffffffff", "/api/v1/runs/sol-execbench:submission/none"):
        server.check("/api/v1/runs/{id}", path, 404)
    for query in ("limit=x", "cursor=zz", "level=best", "since=soon"):
        server.check("/api/v1/runs", "/api/v1/runs?" + query, 400)


def check_pages(server):
    """Pages of one give the list of lines, in its order, each once."""
    status, body, kind = server.get("/api/v1/runs", "application/jsonl")
    assert status == 200 and kind == "application/jsonl"
    lines = [json.loads(line) for line in body.splitlines()]
    run = server.validator({"$ref": "#/components/schemas/Run"})
    for line in lines:
        run.validate(line)
    paged, cursor = [], ""
    while cursor is not None:
        page = json.loads(server.get("/api/v1/runs?limit=3&cursor=" + cursor)[1])
        assert len(page["runs"]) <= 3
        paged += page["runs"]
        cursor = page["cursor"]
    assert len(lines) > 3 and paged == lines


def check_catalog(server, program, environment):
    """The route answers the rows that the verb writes."""
    status, body, kind = server.get("/api/v1/catalog", "application/jsonl")
    assert status == 200 and kind == "application/jsonl"
    written = subprocess.run([program, "export", "catalog", "-", "--quiet"], env=environment,
                             check=True, stdout=subprocess.PIPE).stdout
    assert body == written
    row = server.validator({"$ref": "#/components/schemas/CatalogRow"})
    for line in body.splitlines():
        row.validate(json.loads(line))


def main(program, sample):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, KERNELINDEX_LEDGER=folder + "/ledger",
                           XDG_STATE_HOME=folder + "/state")
        for words in (["init", "--quiet"], ["import", "sol-execbench", sample, "--quiet"]):
            subprocess.run([program, *words], env=environment, check=True,
                           stdout=subprocess.DEVNULL)
        process = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0"], env=environment,
                                   stderr=subprocess.PIPE, text=True)
        try:
            base = re.search(r"http://\S+", process.stderr.readline()).group()
            server = Server(base)
            check_document(server.document)
            check_answers(server)
            check_pages(server)
            check_catalog(server, program, environment)
        finally:
            process.terminate()
            code = process.wait(timeout=30)
        assert code == 0, f"the server ended with {code}"


main(*sys.argv[1:])
