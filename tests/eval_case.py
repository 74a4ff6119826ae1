# SPDX-License-Identifier: MIT
"""A test case of `fumehood eval`: a folder of its own with a config, and what an eval of it gives."""
import json
import os
import textwrap

import support


class Eval(support.TempDir):
    def write(self, name, text, mode=0o644):
        return super().write(name, textwrap.dedent(text), mode)

    def eval(self, *args, config=None, env=None, cwd=None):
        if config is not None:
            self.write("promptfooconfig.yaml", config)
        return support.command("eval", "--no-progress-bar", *args, cwd=cwd or self.dir,
                               env={**os.environ, "NO_COLOR": "1", **(env or {})})

    def results(self, config, *args, status=0, env=None):
        """The results file of a config."""
        done = self.eval("-o", "out.json", "--no-table", *args, config=config, env=env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads((self.dir / "out.json").read_text())

    def rows(self, config, *args, status=0, env=None):
        return self.results(config, *args, status=status, env=env)["results"]["results"]

    def outputs(self, config, *args, **kw):
        return [r["response"]["output"] for r in self.rows(config, *args, **kw)]

    def refused(self, config, *args, line=None, says=(), status=1):
        (self.dir / "out.json").unlink(missing_ok=True)
        done = self.eval("-o", "out.json", *args, config=config)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertFalse((self.dir / "out.json").exists(), "a refused config writes no results")
        if line:
            self.assertIn(f"promptfooconfig.yaml:{line}:", done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)
        return done.stderr


# The smallest config whose test passes.
ECHO = """\
    prompts: ['Say {{word}}']
    providers: [echo]
    tests:
      - vars: {word: yes}
        assert: [{type: contains, value: yes}]
"""
