"""A pytest plugin: writes down, test by test, how a run of the compatibility kit
went, as JSON lines in the file that the environment variable VERDICTS names.

The kit imports gRPC and protobuf whether or not an agent offers gRPC. Where
they, or versions that fit its generated code, are not installed, stand-ins
take their place: no test of another binding uses them.
"""

import importlib.util
import json
import os
import re
import sys

from unittest import mock

NEEDED = ("grpc", "google.protobuf.runtime_version", "google.rpc", "google.api")
STAND_INS = (
    "grpc", "google", "google.api", "google.rpc", "google.protobuf", "google.protobuf.descriptor",
    "google.protobuf.json_format", "google.protobuf.message", "a2a_pb2", "a2a_pb2_grpc",
    "specification.generated.a2a_pb2", "specification.generated.a2a_pb2_grpc",
)
LEVELS = ("must", "should", "may")
BINDINGS = {"jsonrpc": "JSONRPC", "http_json": "HTTP+JSON", "rest": "HTTP+JSON", "grpc": "GRPC", "agent_card": "card"}


def installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


if not all(map(installed, NEEDED)):
    for name in STAND_INS:
        sys.modules[name] = mock.MagicMock(name=name)


class Verdicts:
    """Collects one line for each test."""

    def __init__(self, path):
        self.path, self.lines, self.named, self.recorded = path, {}, {}, {}

    def pytest_collection_modifyitems(self, items):
        """Note what is known of a test before it runs."""
        for item in items:
            marks = {m.name for m in item.iter_markers()}
            self.lines[item.nodeid] = {
                "test": item.nodeid.removeprefix("tests/compatibility/"),
                "level": next((level.upper() for level in LEVELS if level in marks), "MUST"),
                "binding": binding_of(item, marks),
            }
            self.named[item.nodeid] = named(item)

    def pytest_sessionstart(self):
        """See to it that the requirements which a test speaks about are noted."""
        from tck.reporting.collector import CompatibilityCollector

        record, recorded = CompatibilityCollector.record, self.recorded

        def noting(collector, **what):
            recorded.setdefault(collector.current_nodeid, set()).add(what["requirement_id"])
            return record(collector, **what)

        CompatibilityCollector.record = noting

    def pytest_runtest_logreport(self, report):
        """Keep the verdict: of the call, or of a set-up that came to none."""
        if report.when != "call" and report.passed or report.when == "teardown":
            return
        line = self.lines[report.nodeid]
        if hasattr(report, "wasxfail"):
            line["verdict"], line["reason"] = "failed", report.wasxfail.removeprefix("reason: ")
        elif report.skipped:
            line["verdict"], line["reason"] = "skipped", report.longrepr[2].removeprefix("Skipped: ")
        elif report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            line["verdict"], line["reason"] = "failed", crash.message if crash else str(report.longrepr)
        else:
            line["verdict"] = "passed"

    def pytest_sessionfinish(self):
        """Write the lines, without what differs from run to run."""
        from tck.requirements.base import _SESSION

        with open(self.path, "w", encoding="utf-8") as out:
            for nodeid, line in self.lines.items():
                line["requirements"] = sorted(self.recorded.get(nodeid) or self.named[nodeid])
                if "reason" in line:
                    line["reason"] = tidy(line["reason"], _SESSION)
                out.write(json.dumps(line) + "\n")


def binding_of(item, marks):
    """Name the binding that a test uses, "" if it is all of them."""
    callspec = getattr(item, "callspec", None)
    if callspec is not None and "transport" in callspec.params:
        return BINDINGS[callspec.params["transport"]]
    for name, binding in BINDINGS.items():
        if name in marks or item.name.endswith("_" + name) or "/" + name + "/" in item.nodeid:
            return binding
    return ""


def named(item):
    """Name the requirements that a test says it is about."""
    callspec = getattr(item, "callspec", None)
    if callspec is not None and callspec.params.get("requirement") is not None:
        return {callspec.params["requirement"].id}
    for words in (item.function.__doc__, getattr(item.cls, "__doc__", None)):
        if ids := re.findall(r"\b[A-Z][A-Z0-9_]+(?:-[A-Z]+)+-\d+[a-z]?", words or ""):
            return set(ids)
    return set()


def tidy(reason, session):
    """Cut a reason down to its first line, without ports and ids of this run."""
    first = reason.strip().splitlines()[0].removeprefix("AssertionError: ").removeprefix("Failed: ")
    first = first.replace(session, "…").split("\nassert")[0]
    first = re.sub(r"(localhost|127\.0\.0\.1):\d+", r"\1:…", first)
    return first[:400]


def pytest_configure(config):
    """Register the collector of verdicts."""
    config.pluginmanager.register(Verdicts(os.environ["VERDICTS"]))
