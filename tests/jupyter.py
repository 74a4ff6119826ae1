# SPDX-License-Identifier: MIT
"""Cells in Jupyter's own kernel and in a context: what is the same, and what is not.

    python tests/jupyter.py PYTHON [CELLS]       PYTHON has ipykernel, jupyter_client and what the cells import

Prints each difference and counts them. tests/cli/packages/test_context.py compares with what a kernel said once, which
`--record` writes.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
CELLS = TOP / "tests" / "data" / "context" / "cells.py"
RECORD = TOP / "tests" / "data" / "context" / "jupyter.json"

KERNEL = """
import json, sys, time, jupyter_client
manager, client = jupyter_client.manager.start_new_kernel(kernel_name='python3',
    extra_arguments=['--InteractiveShell.colors=' + sys.argv[1], '--HistoryManager.enabled=False'])
def run(code):
    out = {'stdout': '', 'stderr': '', 'shown': [], 'error': None}
    clearing = [False]
    def clear():
        if clearing[0]:
            clearing[0] = False
            out.update(stdout='', stderr='', shown=[])
    def hook(m):
        c, kind = m['content'], m['msg_type']
        if kind == 'stream':
            clear(); out[c['name']] += c['text']
        elif kind in ('execute_result', 'display_data', 'update_display_data'):
            clear(); out['shown'].append([kind, c['data'], c['metadata']])
        elif kind == 'clear_output':
            clearing[0] = True
            if not c['wait']: clear()
        elif kind == 'error':
            out['error'] = [c['ename'], c['evalue'], '\\n'.join(c['traceback'])]
    try:
        client.execute_interactive(code, allow_stdin=False, output_hook=hook, timeout=60)
    except TimeoutError:
        sys.exit('the kernel does not answer: %r' % code)
    time.sleep(0.05)  # what comes from descriptors, it may say after the cell's end
    client.execute_interactive('', silent=True, output_hook=hook, timeout=60)
    return out
print(json.dumps([run(code) for code in json.load(sys.stdin)]))
client.shutdown(); manager.shutdown_kernel(now=True)
"""

#: Text that always differs: addresses, process ids, names of cells' files, times.
VARYING = [(re.compile(r"0x[0-9a-f]{6,}"), "0xADDRESS"),
           (re.compile(r"<ipython-input-[-\w]+>|/tmp/ipykernel_\d+/\d+\.py|Cell In\[\d+\](?:, )?|\b\d{5,}\.py(?:, )?"), "CELL "),
           (re.compile(r"(?:/root|~)/"), "HOME/"),
           (re.compile(r"pid=\d+|'ADDRESS-\d+'"), "PID")]


def cells(path=CELLS):
    return path.read_text().rstrip("\n").split("\n# %%\n")


def in_jupyter(python, codes):
    version = subprocess.run([python, "-c", "import IPython; print(IPython.version_info[0])"], capture_output=True, text=True,
                             check=True).stdout
    done = subprocess.run([python, "-c", KERNEL, "nocolor" if int(version) > 8 else "NoColor"], input=json.dumps(codes), text=True,
                          stdout=subprocess.PIPE, check=True, cwd="/tmp", env={**os.environ, "PATH": os.path.dirname(python) + ":" + os.environ["PATH"]})
    return json.loads(done.stdout.splitlines()[-1])


def of(execution):
    """An Execution in the form of the record."""
    error = execution.error
    return {"stdout": execution.stdout, "stderr": execution.stderr,
            "shown": [["execute_result" if d.main else "display_data", d.mime, d.metadata] for d in execution.results],
            "error": [error.name, error.value, error.traceback] if error else None}


def same_form(value):
    """A record without varying text, and without the forms that only fumehood adds."""
    def text(item):
        for pattern, word in VARYING:
            item = pattern.sub(word, item)
        return item

    shown = []
    for kind, data, metadata in value["shown"]:
        data = {mime: text(item) if isinstance(item, str) else item for mime, item in data.items()
                if not mime.startswith("application/vnd.fumehood.")}
        if kind == "update_display_data":
            continue
        if "json" in " ".join(data) and data.get("text/plain", "")[:1] in "[{" and "IPython" not in data.get("text/plain", ""):
            data.pop("application/json", None)
        shown.append([kind, data, metadata])
    error = value["error"] and [value["error"][0], text(value["error"][1]), text(value["error"][2])]
    return {"stdout": text(value["stdout"]), "stderr": text(value["stderr"]), "shown": shown, "error": error}


def differences(codes, theirs, ours, traceback=True):
    """The differences: (number, code, field, theirs, ours) of each."""
    for number, (code, a, b) in enumerate(zip(codes, theirs, ours)):
        a, b = same_form(a), same_form(b)
        for field in a:
            x, y = a[field], b[field]
            if field == "error" and not traceback and x and y:
                x, y = x[:2], y[:2]
            if x != y:
                yield number, code, field, x, y


def in_context(codes, shell, **sandbox):
    sys.path.insert(0, str(TOP / "python"))
    import fumehood
    with fumehood.Sandbox("python", memory="1G", **sandbox) as box:
        context = box.context(shell=shell)
        return [of(context.run(code, timeout=60)) for code in codes], context.interpreter


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("python")
    p.add_argument("cells", nargs="?", type=pathlib.Path, default=CELLS)
    p.add_argument("--shell", default="ipython")
    p.add_argument("--record", action="store_true")
    options = p.parse_args()
    codes = cells(options.cells)
    theirs = in_jupyter(options.python, codes)
    if options.record:
        RECORD.write_text("[\n" + ",\n".join(json.dumps(same_form(one), ensure_ascii=True) for one in theirs) + "\n]\n")
    prefix = pathlib.Path(options.python).parent.parent
    ours, interpreter = in_context(codes, options.shell, **({"venv": str(prefix)} if (prefix / "pyvenv.cfg").exists() else {}))
    found = list(differences(codes, theirs, ours, traceback=options.shell == "ipython"))
    for number, code, field, a, b in found:
        print(f"-- cell {number + 1}: {code!r}\n   {field}\n   jupyter: {str(a)[:600]!r}\n   ours:    {str(b)[:600]!r}")
    print(f"{len(codes)} cells with {interpreter}: {len({n for n, *_ in found})} differ")


if __name__ == "__main__":
    main()
