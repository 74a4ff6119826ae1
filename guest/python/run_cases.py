# SPDX-License-Identifier: MIT
# Runs the cases of a test that only defines them, as pytest and unittest do with a file: judge/formats/python_cases.c puts
# this text behind such a test, and behind this text a call with the names that the test defines. A case that is skipped while it
# runs has failed, but where the test itself skips it: a program in the same process can raise a skip, too.
def fh_run_cases(fh_space, *fh_names):
    import sys
    pytest, unittest = sys.modules.get("pytest"), sys.modules.get("unittest")

    def is_skipped(case):
        return getattr(case, "__unittest_skip__", False)

    own_file = fh_run_cases.__code__.co_filename
    begin = fh_space.get("fh_test_line", 0)  # where the program ends that stands in the same file

    def is_own_skip(error):
        """Whether the last frame of the test's file is the test's, names a skip, and called nothing but unittest or pytest."""
        at, last, deeper = error.__traceback__, None, []
        while at:
            if at.tb_frame.f_code.co_filename == own_file:
                last, deeper = at, []
            else:
                deeper.append(at.tb_frame.f_code.co_filename)
            at = at.tb_next
        skipping = {module.__file__ for module in map(sys.modules.get, ("unittest.case", "_pytest.outcomes")) if module}
        return (last is not None and last.tb_lineno >= begin and skipping.issuperset(deeper)
                and any(["skip" in name.lower() or "xfail" in name for name in last.tb_frame.f_code.co_names]))

    def with_pytest():
        """For its fixtures, marks and parameters: the module is the test's own, the file on disk is empty."""
        import os
        import tempfile
        module, failed, skipped = kind(sys)("test_cases"), [], []
        due, done, marked, own = set(), set(), set(), set()
        module.__dict__.update({n: v for n, v in fh_space.items() if n in fh_names or not n.lower().startswith("test")})

        class Cases(pytest.Module):
            def _getobj(self):
                return module

        class Plugin:
            @staticmethod
            def pytest_pycollect_makemodule(module_path, parent):
                return Cases.from_parent(parent, path=module_path)

            @staticmethod
            def pytest_exception_interact(call):
                failed.append(call.excinfo.value)

            @staticmethod
            def pytest_collection_finish(session):
                due.update([case.nodeid for case in session.items])
                marked.update([case.nodeid for case in session.items if is_skipped(case.obj) or is_skipped(case.cls)])

            @staticmethod
            def pytest_runtest_makereport(item, call):
                if call.excinfo and is_own_skip(call.excinfo.value):
                    own.add(item.nodeid)

            @staticmethod
            def pytest_runtest_logreport(report):
                if report.skipped and not ({"skip", "skipif", "xfail"} & set(report.keywords) or report.nodeid in marked | own):
                    skipped.append(report.nodeid)
                elif report.skipped or report.when == "call":
                    done.add(report.nodeid)

        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test_cases.py")
            open(path, "w").close()
            options = [path, "--rootdir", folder, "-c", os.devnull, "--noconftest", "-s", "-q", "-p", "no:cacheprovider"]
            status = pytest.main(options, plugins=[Plugin])
        if failed:
            raise failed[0]
        if status:
            raise AssertionError("pytest: no case passed (status %d)" % status)
        for what, cases in ("was skipped", skipped), ("did not come to its end", sorted(due - done)):
            if cases:
                raise AssertionError("pytest: %s %s" % (cases[0].split("::", 1)[-1], what))

    def call(function, *arguments):
        result = function(*arguments)
        if kind(result).__name__ == "coroutine":
            import asyncio
            asyncio.run(result)

    def fixture(owner, name, *arguments):
        found = getattr(owner, name, None)
        if found is not None:
            takes = found.__code__.co_argcount - hasattr(found, "__self__")
            call(found, *arguments[:takes])

    def methods_of(case):
        names = [n for base in reversed(case.__mro__) for n in vars(base) if n.startswith("test")]
        fixture(case, "setup_class")
        for name in dict.fromkeys(names):
            one = case()
            method = getattr(one, name)
            fixture(one, "setup_method", method)
            try:
                call(method)
            finally:
                fixture(one, "teardown_method", method)
        fixture(case, "teardown_class")

    def with_unittest(case):
        result = unittest.defaultTestLoader.loadTestsFromTestCase(case)(unittest.TestResult())
        for one, text in result.failures + result.errors:
            raise AssertionError("unittest: %s failed: %s" % (one, text.strip().split("\n")[-1]))

    kind = type
    if pytest:
        return with_pytest()
    for name in fh_names:
        case = fh_space[name]
        if not isinstance(case, kind):
            call(case)
        elif unittest and issubclass(case, unittest.TestCase):
            with_unittest(case)
        elif name.startswith("Test"):
            methods_of(case)


