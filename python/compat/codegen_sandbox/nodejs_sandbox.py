# SPDX-License-Identifier: MIT
import json

from .base import BaseCodegenSandbox

_COMPLIANCE = r"""
const fs = require('fs'), path = require('path');

function parts(text) {
  const found = /^\s*[v=]*\s*(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([0-9A-Za-z.-]+))?/.exec(text);
  if (!found) return null;
  const number = (word) => (word === undefined || /[xX*]/.test(word) ? null : Number(word));
  return { n: [number(found[1]), number(found[2]), number(found[3])], pre: found[4] || '' };
}
function compare(a, b) {
  for (let i = 0; i < 3; i++) if (a.n[i] !== b.n[i]) return a.n[i] < b.n[i] ? -1 : 1;
  if (a.pre === b.pre) return 0;
  return !a.pre ? 1 : !b.pre ? -1 : a.pre < b.pre ? -1 : 1;
}
const at = (n, pre) => ({ n: n.map((v) => v || 0), pre: pre || '' });
function next(n, place) {
  const up = n.map((v, i) => (i < place ? v || 0 : 0));
  up[place] = (n[place] || 0) + 1;
  return at(up);
}
// From (inclusive) and to (exclusive) of one comparator; null: no bound.
function bounds(word) {
  const found = /^(\^|~>?|>=|<=|>|<|=)?\s*(.*)$/.exec(word), p = parts(found[2]);
  if (!p || p.n[0] === null) return (v) => true;
  const low = at(p.n, p.pre), known = p.n.filter((v) => v !== null).length;
  const within = (to) => (v) => compare(v, low) >= 0 && compare(v, to) < 0;
  switch (found[1]) {
    case '^': {
      const first = p.n.findIndex((v, i) => v > 0 || i === known - 1);
      return within(next(p.n, first));
    }
    case '~': case '~>': return within(next(p.n, Math.min(1, known - 1)));
    case '>=': return (v) => compare(v, low) >= 0;
    case '>': return known === 3 ? (v) => compare(v, low) > 0 : (v) => compare(v, next(p.n, known - 1)) >= 0;
    case '<': return (v) => compare(v, low) < 0;
    case '<=': return known === 3 ? (v) => compare(v, low) <= 0 : (v) => compare(v, next(p.n, known - 1)) < 0;
    default: return known === 3 ? (v) => compare(v, low) === 0 : within(next(p.n, known - 1));
  }
}
function satisfies(version, range) {
  const v = parts(version);
  return range.split('||').some((side) => {
    const hyphen = /^\s*(\S+)\s+-\s+(\S+)\s*$/.exec(side);
    const words = hyphen ? ['>=' + hyphen[1], '<=' + hyphen[2]] : side.trim().replace(/(\^|~>?|>=|<=|>|<|=)\s+/g, '$1').split(/\s+/);
    return words.filter(Boolean).every((word) => bounds(word)(v));
  });
}
function installed(name) {
  for (const place of module.paths.concat(['/node_modules'])) {
    const file = path.join(place, name, 'package.json');
    if (fs.existsSync(file)) return JSON.parse(fs.readFileSync(file, 'utf8')).version;
  }
  return null;
}
const bad = [];
for (const asked of REQUIREMENTS) {
  const cut = asked.indexOf('@', 1), name = cut < 0 ? asked : asked.slice(0, cut), range = cut < 0 ? '*' : asked.slice(cut + 1);
  const version = installed(name);
  if (version === null) bad.push(asked);
  else if (range !== 'latest' && !satisfies(version, range)) bad.push(`${asked} (version conflict: available ${version})`);
}
if (bad.length) {
  console.error('SandboxRequirementsError: The following packages are missing or have conflicts: ' + bad.join(', '));
  process.exit(1);
}
"""


class NodejsCodegenSandbox(BaseCodegenSandbox):
    language = "javascript"
    workdir_with_requirements = "/sandbox"

    def _prepare_code_command(self, code):
        if len(code.encode("utf-8", "surrogateescape")) < 100000:
            return ["node", "-e", code]
        self._made.put("/run/.program.js", code)
        return ["node", "-e", "const fs=require('fs'),p='/run/.program.js',t=fs.readFileSync(p,'utf8');fs.unlinkSync(p);"
                "require('vm').runInThisContext('(function(require,module,exports){'+t+'\\n})',{filename:'[eval]'})(require,module,exports)"]

    def _compliance_script(self, requirements):
        return "const REQUIREMENTS = {};\n".format(json.dumps([str(item) for item in requirements])) + _COMPLIANCE
