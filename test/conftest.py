"""The pytest side of test/kit.h: a file whose tests were all skipped exits with 77 (CTest's "skipped"), and a skip is a
failure with STICKSLIP_REQUIRE_TOOLS=1, or STICKSLIP_REQUIRE_DATA=1 where a file of others is missing."""
import os
import sys

import pytest

from shared_data import NoSharedData

CTEST_SKIPPED = 77

# The Python package of the build under test, for this process and those it starts.
if "SS_BUILD_DIR" in os.environ:
    package = os.path.join(os.environ["SS_BUILD_DIR"], "python")
    sys.path.insert(0, package)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    of_data = call.excinfo is not None and isinstance(call.excinfo.value, NoSharedData)
    required_by = "STICKSLIP_REQUIRE_DATA" if of_data else "STICKSLIP_REQUIRE_TOOLS"
    if os.environ.get(required_by) == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped, but {required_by}=1: {report.longrepr}"


def pytest_sessionfinish(session, exitstatus):
    reports = session.config.pluginmanager.getplugin("terminalreporter").stats
    ran = any(reports.get(outcome) for outcome in ("passed", "failed", "error", "xfailed", "xpassed"))
    if exitstatus == pytest.ExitCode.OK and reports.get("skipped") and not ran:
        session.exitstatus = CTEST_SKIPPED
