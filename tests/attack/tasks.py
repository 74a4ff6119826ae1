# SPDX-License-Identifier: MIT
"""The tasks that the attacks do not solve: for each language and name the part that a completion continues, the naive test (which
prints "passed" at its end), the problem as fumehood reads it, a reference and a stub that is wrong."""

LANGUAGES = ("python", "javascript", "bash", "c", "cpp", "java", "go", "rust", "ruby")
# Languages whose tests may run in the candidate's process; attacks there are not counted.
IN_PROCESS = ()
# Languages whose attacks and references are programs by themselves behind a task's head.
WHOLE = ("java", "rust", "go")
TASKS = {}
# Tasks whose reference fumehood is given, as their tests accept NaN or an infinity unless the reference's numbers are known.
WITH_REFERENCE = ("third", "halves")


def add(language, name, head, naive, reference, stub, /, **problem):
    problem = dict(problem, task_id=f"{language}/{name}")
    TASKS[language, name] = {"head": head, "naive": naive, "reference": reference, "stub": stub, "problem": problem}


def given(name, reference):
    return {"canonical_solution": reference} if name in WITH_REFERENCE else {}


def human_eval(name, prompt, asserts, reference, stub, imports=""):
    test = f"{imports}def check(candidate):\n" + "".join(f"    assert {a}\n" for a in asserts)
    add("python", name, prompt, test + f"\ncheck({name})\n", reference, stub, prompt=prompt, entry_point=name, test=test,
        **given(name, reference))


def pack(language, name, declaration, test, naive, reference, stub):
    add(language, name, declaration, naive, reference, stub, declaration=declaration, test=test, **given(name, reference))
    TASKS[language, name]["problem"]["task_id"] = {"javascript": "JavaScript", "cpp": "CPP"}[language] + "/" + name


def by_call(language, head, declaration, tests, naive, reference, stub, naive_imports=""):
    """naive_imports: what the naive test needs where a program may not import what it does not use."""
    add(language, "total", head + naive_imports, naive, reference, stub, language=language, prompt=head + declaration, tests=tests,
        code=head + reference)
    TASKS[language, "total"]["whole_head"] = head


# Lines of integers in, their sums out: what stands behind the completion reads and prints.
SUMS = [{"stdin": "311 4\n", "stdout": "315\n"}, {"stdin": "-7002 1\n", "stdout": "-7001\n"},
        {"stdin": "60000 5 4\n", "stdout": "60009\n"}]


def by_output(language, head, suffix, naive, reference, stub):
    add(language, "total", head, naive, reference, stub, language=language, prefix=head, suffix=suffix, cases=SUMS)


# ------------------------------------------------------------------------------------------------------------ python
human_eval("total", 'def total(numbers):\n    """The sum of the numbers."""\n',
           ["candidate([311, 4]) == 315", "candidate([-7002, 1]) == -7001", "candidate([60000, 5, 4]) == 60009"],
           "    return sum(numbers)\n", "    return 0\n")
human_eval("initials", 'def initials(name):\n    """The first letters of the words."""\n',
           ["candidate('Ada King Lovelace') == 'AKL'", "candidate('alan turing') == 'at'", "candidate('') == ''"],
           "    return ''.join(word[0] for word in name.split())\n", "    return ''\n")
human_eval("mean", 'def mean(numbers):\n    """The mean of the numbers."""\n',
           ["abs(candidate([311.0, 4.0]) - 157.5) < 1e-6", "abs(candidate([7.5]) - 7.5) < 1e-6"],
           "    return sum(numbers) / len(numbers)\n", "    return 0.0\n")
human_eval("evens", 'def evens(numbers):\n    """The even numbers, in order."""\n',
           ["candidate([311, 44, 6]) == [44, 6]", "candidate([7]) == []", "len(candidate([20, 30])) == 2"],
           "    return [n for n in numbers if n % 2 == 0]\n", "    return None\n")
human_eval("hypotenuse", 'def hypotenuse(a, b):\n    """The length of the long side."""\n',
           ["math.isclose(candidate(300, 400), 500)", "math.isclose(candidate(5, 12), 13)"],
           "    return (a * a + b * b) ** 0.5\n", "    return 0\n", imports="import math\n")
human_eval("turned", 'def turned(numbers):\n    """The numbers, last to first."""\n',
           ["all(map(lambda n: candidate([n, 7]) == [7, n], [311, 42]))", "all(map(lambda n: candidate([n]) == [n], [5, 6]))"],
           "    return numbers[::-1]\n", "    return None\n")
human_eval("flipped", 'def flipped(numbers):\n    """The numbers, last to first."""\n',
           ["candidate(candidate([311, 4])) == [311, 4]", "candidate(candidate([60000, 5, 4])) == [60000, 5, 4]"],
           "    return numbers[::-1]\n", "    return None\n")
human_eval("third", 'def third(number):\n    """A third of the number."""\n',
           ["near(candidate(311), 103.66666667)", "near(candidate(5.0), 1.66666667)"],
           "    return number / 3\n", "    return 0\n",
           imports="def near(a, b):\n    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))\n")
human_eval("in_order", 'def in_order(numbers):\n    """The numbers, the least first."""\n',
           ["right(candidate([311, 42, 7]), [311, 42, 7])", "right(candidate([6, 5]), [6, 5])"],
           "    return sorted(numbers)\n", "    return numbers\n",
           imports="def right(got, numbers):\n    ordered = all([got[i] <= got[i + 1] for i in range(len(got) - 1)])\n"
                   "    return ordered and sorted(got) == sorted(numbers)\n")

# -------------------------------------------------------------------------------------------------------- javascript
JS_TOTAL = """const testTotal = () => {
  console.assert(total([311, 4]) === 315)
  console.assert(total([-7002, 1]) === -7001)
  console.assert(total([60000, 5, 4]) === 60009)
}
testTotal()
"""
pack("javascript", "total", "/* The sum of the numbers. */\nconst total = (numbers) => {\n", JS_TOTAL,
     JS_TOTAL.replace("testTotal()\n", "testTotal()\nconsole.log('passed')\n"),
     "  return numbers.reduce((a, b) => a + b, 0)\n}\n", "  return 0\n}\n")
JS_EVENS = """const testEvens = () => {
  console.assert(JSON.stringify(evens([311, 44, 6])) === JSON.stringify([44, 6]))
  console.assert(JSON.stringify(evens([7])) === JSON.stringify([]))
}
testEvens()
"""
pack("javascript", "evens", "/* The even numbers, in order. */\nconst evens = (numbers) => {\n", JS_EVENS,
     JS_EVENS.replace("testEvens()\n", "testEvens()\nconsole.log('passed')\n"),
     "  return numbers.filter((n) => n % 2 === 0)\n}\n", "  return 0\n}\n")
JS_ORDER = """const right = (got, numbers) => {
  for (let i = 1; i < got.length; i++) console.assert(got[i - 1] <= got[i])
  console.assert(got.length === numbers.length && [...got].sort().join() === numbers.sort().join())
}
const testOrder = () => {
  right(inOrder([311, 42, 7]), [311, 42, 7])
  right(inOrder([6, 5]), [6, 5])
}
testOrder()
"""
pack("javascript", "inOrder", "/* The numbers, the least first. */\nconst inOrder = (numbers) => {\n", JS_ORDER,
     JS_ORDER.replace("testOrder()\n", "testOrder()\nconsole.log('passed')\n"),
     "  return numbers.sort((a, b) => a - b)\n}\n", "  return numbers\n}\n")

# --------------------------------------------------------------------------------------------------------------- c++
CPP_HEAD = "#include <cstdio>\n#include <string>\n#include <vector>\nusing namespace std;\n"
CPP_NEAR = ("bool near(vector<double> a, vector<double> b) {\n    for (size_t i = 0; i < b.size(); i++) {\n"
            "        double distance = a.at(i) - b[i];\n        if (distance > 1e-6 || -distance > 1e-6) return false;\n    }\n"
            "    return a.size() == b.size();\n}\n")
for name, declaration, calls, reference, stub in (
        ("total", "long total(vector<long> numbers){\n",
         ["total({311, 4}) == 315", "total({-7002, 1}) == -7001", "total({60000, 5, 4}) == 60009"],
         "    long sum = 0;\n    for (long n : numbers) sum += n;\n    return sum;\n}\n", "    return 0;\n}\n"),
        ("evens", "vector<long> evens(vector<long> numbers){\n",
         ["evens({311, 44, 6}) == vector<long>({44, 6})", "evens({20, 30}) == vector<long>({20, 30})"],
         "    vector<long> out;\n    for (long n : numbers) if (n % 2 == 0) out.push_back(n);\n    return out;\n}\n",
         "    return {};\n}\n"),
        ("initials", "string initials(string name){\n",
         ['initials("Ada King Lovelace") == "AKL"', 'initials("alan turing") == "at"'],
         "    string out;\n    for (size_t i = 0; i < name.size(); i++)\n"
         "        if (name[i] != ' ' && (i == 0 || name[i - 1] == ' ')) out += name[i];\n    return out;\n}\n",
         "    return \"\";\n}\n"),
        ("halves", "vector<double> halves(vector<double> numbers){\n",
         ["near(halves({311, 4}), {155.5, 2})", "near(halves({5}), {2.5})"],
         "    for (double &n : numbers) n /= 2;\n    return numbers;\n}\n", "    return numbers;\n}\n")):
    body = "#include <assert.h>\n" + (CPP_NEAR if "near(" in calls[0] else "") + "int main(){\n" + "".join(f"    assert({c});\n" for c in calls)
    pack("cpp", name, CPP_HEAD + declaration, body + "}\n", body + '    puts("passed");\n}\n', reference, stub)

# ------------------------------------------------------------- java, go and rust; and judged by output: bash, c and ruby
by_output("bash", "# The sum of the arguments: total N... prints it.\n", "read -r -a numbers\ntotal \"${numbers[@]}\"\n",
          '[ "$(total 311 4)" = 315 ] || exit 1\n[ "$(total -7002 1)" = -7001 ] || exit 1\n'
          '[ "$(total 60000 5 4)" = 60009 ] || exit 1\necho passed\n',
          'total() {\n  local sum=0 n\n  for n; do sum=$((sum + n)); done\n  echo "$sum"\n}\n', "total() {\n  echo 0\n}\n")
by_output("c", "#include <stdio.h>\n/* The sum of count numbers. */\nlong total(const long *numbers, int count);\n",
          "int main(void) {\n\tlong n[64];\n\tint count = 0;\n\twhile (count < 64 && scanf(\"%ld\", &n[count]) == 1)\n\t\tcount++;\n"
          "\tprintf(\"%ld\\n\", total(n, count));\n\treturn 0;\n}\n",
          "#include <assert.h>\nint main(void) {\n\tassert(total((long[]){ 311, 4 }, 2) == 315);\n"
          "\tassert(total((long[]){ -7002, 1 }, 2) == -7001);\n\tassert(total((long[]){ 60000, 5, 4 }, 3) == 60009);\n"
          "\tputs(\"passed\");\n\treturn 0;\n}\n",
          "long total(const long *numbers, int count) {\n\tlong sum = 0;\n\twhile (count > 0)\n\t\tsum += numbers[--count];\n"
          "\treturn sum;\n}\n", "long total(const long *numbers, int count) { return 0; }\n")
by_output("ruby", "# The sum of the numbers.\n", "puts total($stdin.read.split.map(&:to_i))\n",
          'raise "wrong" unless total([311, 4]) == 315\nraise "wrong" unless total([-7002, 1]) == -7001\n'
          'raise "wrong" unless total([60000, 5, 4]) == 60009\nputs "passed"\n', "def total(numbers)\n  numbers.sum\nend\n",
          "def total(numbers)\n  0\nend\n")
JAVA_TEST = """public class Main {
  static void check(long got, long want) {
    if (got != want) throw new AssertionError();
  }
  public static void main(String[] args) {
    check(Solution.total(List.of(311L, 4L)), 315);
    check(Solution.total(List.of(-7002L, 1L)), -7001);
    check(Solution.total(List.of(60000L, 5L, 4L)), 60009);
  }
}
"""
by_call("java", "import java.util.*;\n", "class Solution {\n  static long total(List<Long> numbers) {\n", JAVA_TEST,
        JAVA_TEST.replace("60009);\n", "60009);\n    System.out.println(\"passed\");\n"),
        "class Solution {\n  static long total(List<Long> numbers) {\n    long sum = 0;\n    for (long n : numbers) sum += n;\n"
          "    return sum;\n  }\n}\n", "class Solution {\n  static long total(List<Long> numbers) {\n    return 0;\n  }\n}\n")
GO_CALLS = "\tcheck(total([]int{311, 4}), 315)\n\tcheck(total([]int{-7002, 1}), -7001)\n\tcheck(total([]int{60000, 5, 4}), 60009)\n"
by_call("go", "package main\n", "func total(numbers []int) int {\n",
        "package main\nimport (\n\"testing\"\n\"github.com/stretchr/testify/assert\"\n)\nfunc TestTotal(t *testing.T) {\n"
        "\tassert := assert.New(t)\n\tcheck := func(got, want int) { assert.Equal(want, got) }\n" + GO_CALLS + "}\n",
        "func check(got, want int) {\n\tif got != want {\n\t\tpanic(\"wrong\")\n\t}\n}\nfunc main() {\n" + GO_CALLS +
        "\tfmt.Println(\"passed\")\n}\n",
        "func total(numbers []int) int {\n\tsum := 0\n\tfor _, n := range numbers {\n\t\tsum += n\n\t}\n\treturn sum\n}\n",
        "func total(numbers []int) int {\n\treturn 0\n}\n", naive_imports="import \"fmt\"\n")
RUST_CALLS = ("    assert_eq!(total(&[311, 4]), 315);\n    assert_eq!(total(&[-7002, 1]), -7001);\n"
              "    assert_eq!(total(&[60000, 5, 4]), 60009);\n")
by_call("rust", "", "fn total(numbers: &[i64]) -> i64 {\n",
        "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn sums() {\n" + RUST_CALLS + "    }\n}\n",
        "fn main() {\n" + RUST_CALLS + "    println!(\"passed\");\n}\n",
          "fn total(numbers: &[i64]) -> i64 {\n    numbers.iter().sum()\n}\n", "fn total(numbers: &[i64]) -> i64 {\n    0\n}\n")
