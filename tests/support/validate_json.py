# SPDX-License-Identifier: Apache-2.0
"""Validates JSON documents with python3-jsonschema, an implementation that knows nothing of ours.

    validate_json.py FOLDER < LINES

FOLDER holds JSON Schemas; each line of the input is {"schema": FILE, "document": VALUE}. Prints one
line each: "valid", or "invalid" and the first reason. Exit 77 when the package is not installed, 1
when a schema is none.
"""

import json
import pathlib
import re
import sys

try:
    from jsonschema import Draft202012Validator, exceptions, validators
except ImportError:
    sys.exit(77)


def pattern(_validator, expression, instance, _schema):
    """ECMAScript's $ is the end of the text; Python's also stands before a last newline."""
    if isinstance(instance, str):
        if not re.search(expression.replace("$", r"\Z"), instance, re.ASCII):
            yield exceptions.ValidationError(f"{instance!r} does not match {expression!r}")


Validator = validators.extend(Draft202012Validator, {"pattern": pattern})


def main():
    schemas = {}
    for path in pathlib.Path(sys.argv[1]).glob("*.json"):
        schema = json.loads(path.read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        schemas[path.name] = Validator(schema)
    for line in sys.stdin:
        item = json.loads(line)
        error = next(schemas[item["schema"]].iter_errors(item["document"]), None)
        if error is None:
            print("valid")
        else:
            path = ".".join(str(step) for step in error.absolute_path)
            print("invalid", path, json.dumps(error.message)[:200])


if __name__ == "__main__":
    main()
