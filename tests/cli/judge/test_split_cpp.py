# SPDX-License-Identifier: MIT
"""What candidates in C++, honest or not, can send to the judge's process."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import support
from split_case import Split


CPP_BY_HAND = """    return 0;
}
#include <unistd.h>
#include <string>
__attribute__((constructor)) static void by_hand()
{
    unsigned n;
    auto send = [](const std::string &b) { unsigned k = b.size(); (void)!write(4, &k, 4); (void)!write(4, b.data(), k); };
    auto hear = [&] { if (read(3, &n, 4) != 4) _exit(0); std::string b(n, 0); (void)!read(3, &b[0], n); return b.substr(1, 16); };
    std::string three("R\\3\\0\\0\\0", 5), zero("R\\0\\0\\0\\0", 5);
    %s
    for (;;) hear();
}
"""


@support.once
class Cpp(Split):
    language, tool = "cpp", "g++"

    @staticmethod
    def is_whole(text):
        return text.startswith("#include")

    @support.once
    @support.release_only
    def test_replies_that_no_program_gives(self):
        replies = {
            "to another call": 'hear(); send(std::string(16, 0) + three);',
            "too long": 'send(hear() + three + "x");',
            "too short": 'send(hear() + "R\\3");',
            "an exception of no kind": 'send(hear() + "T\\x7f" + zero.substr(1));',
            "a length of four gigabytes": 'hear(); (void)!write(4, "\\xff\\xff\\xff\\xff", 4);',
            "twice": 'std::string id = hear(); send(id + three); send(id + zero);',
        }
        self.check([(what, "CPP/0", CPP_BY_HAND % code, "tampered", "repl") for what, code in replies.items()])

    @support.once
    @support.release_only
    def test_what_gains_nothing(self):
        self.check([
            ("a reply by hand is a reply", "CPP/0", CPP_BY_HAND % "send(hear() + three); send(hear() + zero); send(hear() + 'E');",
             "passed", ""),
            ("the driver's descriptor and status 0", "CPP/0", "    return 0;\n}\n#include <unistd.h>\n"
             "static int s = (write(5, \"passed 2 0\\n\", 11), _exit(0), 0);\n", "early_exit", ""),
            ("names of the harness", "CPP/0", "    return 3;\n}\nextern \"C\" void __assert_fail(const char *, const char *, unsigned, "
             "const char *){ for (;;); }\nextern \"C\" int __wrap_main(int, char **, char **){ return 0; }\n", "early_exit",
             ""),
            ("no exception that a test could catch", "CPP/0", "    throw 1;\n}\n", "failed", "not a std::exception"),
        ])

    @support.once
    @support.release_only
    def test_variables_that_are_called_like_functions_of_libc(self):
        """They belong to the program: neither the harness nor a library uses them by mistake."""
        names = "read write free malloc calloc realloc strlen memcpy memmove memset memcmp strcmp exit abort time index y0 y1 j0 j1 jn " \
                "link close open signal send recv kill fork wait pipe poll select connect accept bind listen stat access rename remove " \
                "environ getrandom fflush next count data size rand div sync pause sleep dup qsort abs raise alarm syscall getenv " \
                "stdout optarg".split()
        right = "    int t = 0;\n    for (int n : numbers) t += n;\n    return t;\n}\n"
        self.check([
            ("each", "CPP/0", right + "".join(f"int {n} = 0;\n" for n in names), "passed", ""),
            ("each, and wrong", "CPP/0", "    return 0;\n}\n" + "".join(f"int {n} = 0;\n" for n in names), "failed", "assertion failed"),
            ("errno, which gold does not link", "CPP/0", right + "int errno = 0;\n", "passed", ""),
            ("memory of its own", "CPP/0", right + "#include <stdlib.h>\n"
             "void *operator new(size_t n) { char *p = (char *)malloc(n + 16); return p + 16; }\n"
             "void operator delete(void *p) noexcept { if (p) free((char *)p - 16); }\n"
             "void operator delete(void *p, size_t) noexcept { if (p) free((char *)p - 16); }\n", "passed", ""),
            ("functions that the harness uses", "CPP/0", right + "extern \"C\" long read(int, void *, unsigned long) { return -1; }\n"
             "extern \"C\" unsigned long strlen(const char *) { return 0; }\nextern \"C\" void free(void *) {}\n", "passed", ""),
        ])

    @support.release_only
    def test_functions_that_are_written_otherwise_than_declared(self):
        """What a test in the same unit may call is called; what it cannot call is a failure, and no value is bent."""
        use = "#include <functional>\n#include <vector>\n#include <string>\nusing namespace std;\n"
        body = "{ int t = 0; for (auto n : numbers) t += n; return t; }\n"
        not_defined = ("compile_error", "does not define the function")
        programs = {
            "a const reference": (use + "int total(const vector<int>& numbers)" + body, "passed", ""),
            "one, and wrong": (use + "int total(const vector<int>& numbers) { return 1; }\n", "failed", "assertion failed"),
            "names with std::": ("#include <vector>\nint total(std::vector<int> numbers)" + body, "passed", ""),
            "both": ("#include <vector>\nint total(const std::vector<int> &numbers)" + body, "passed", ""),
            "the result behind it": (use + "auto total(vector<int> numbers) -> int " + body, "passed", ""),
            "a wider result": (use + "long total(vector<int> numbers)" + body, "passed", ""),
            "double": (use + "double total(vector<int> numbers)" + body, "passed", ""),
            "double, and a half more": (use + "double total(vector<int> numbers)" + body.replace("return t", "return t + 0.5"),
                                        "failed", "not a value of the declared type"),
            "static": (use + "static int total(vector<int> numbers)" + body, "passed", ""),
            "inline": (use + "inline int total(vector<int> numbers)" + body, "passed", ""),
            "a template": (use + "template <class V> int total(const V &numbers)" + body, "passed", ""),
            "a lambda": (use + "auto total = [](const vector<int> &numbers) " + body.strip() + ";\n", "passed", ""),
            "a std::function": (use + "function<int(vector<int>)> total = [](vector<int> numbers) " + body.strip() + ";\n", "passed", ""),
            "one more with a default value": (use + "int total(vector<int> numbers, int t = 0)" + body.replace("int t = 0; ", ""),
                                              "passed", ""),
            "from a namespace": (use + "namespace a { int total(vector<int> numbers)" + body + "}\nusing a::total;\n", "passed", ""),
            "a macro": (use + "int sum_of(const vector<int> &numbers)" + body + "#define total sum_of\n", "passed", ""),
            "a word of the language as a macro": (use + "#define const\nint total(const vector<int> numbers)" + body, "passed", ""),
            "itself, by a helper of its name": (use + "int total(const int *a, const int *b) { return a == b ? 0 : *a + total(a + 1, b); }\n"
                                                "int total(const vector<int> &v) { return total(v.data(), v.data() + v.size()); }\n",
                                                "passed", ""),
            "what braces may become, too": ("#include <initializer_list>\nint total(std::initializer_list<int> numbers)" + body, "passed", ""),
            "an array, as braces have no type": (use + "#include <array>\nint total(array<int, 5> numbers)" + body, "passed", ""),
            "a small one": (use + "#include <array>\nint total(const array<long, 1> &numbers)" + body, "failed", "not a value of the declared type"),
            "a list of a class of its own": (use + "struct Big { int v; Big(int v) : v(v) {} operator int() const { return v; } };\n"
                                             "int total(const vector<Big> &numbers)" + body, "passed", ""),
            "of a wider number": ("#include <vector>\nint total(const std::vector<long> &numbers)" + body, "passed", ""),
            "int as a macro": ("#include <vector>\nusing namespace std;\n#define int long long\n#define each(v) for (auto n : v)\n"
                               "int total(vector<int> numbers) { int t = 0; each(numbers) t += n; return t; }\nsigned main() { }\n", "passed", ""),
            "int as a macro, and out of range": ("#include <vector>\n#define int long long\nint total(std::vector<int> numbers) "
                                                 "{ return 3 + (1ll << 32); }\n", "failed", "not a value of the declared type"),
            "a macro that the library's headers use": ("#include <vector>\n#define max(a, b) ((a) > (b) ? (a) : (b))\n"
                                                       "int total(const std::vector<int> &numbers)" + body, "passed", ""),
            "C++20": ("#include <ranges>\n#include <vector>\ntemplate <std::integral T> T total(std::vector<T> numbers)" + body.replace(
                "numbers)", "numbers | std::views::all)"), "passed", ""),
            "items of another type": (use + "vector<long> total(vector<int> numbers) { return {3}; }\n", *not_defined),
            "a reference that changes": (use + "int total(vector<int> &numbers)" + body, *not_defined),
            "a pointer": (use + "const char *total(vector<int> numbers) { return \"3\"; }\n", *not_defined),
            "of another kind": (use + "string total(vector<int> numbers) { return \"3\"; }\n", *not_defined),
            "in a class": (use + "struct Solution { int total(vector<int> numbers)" + body + "};\n", *not_defined),
            "in a namespace": (use + "namespace a { int total(vector<int> numbers)" + body + "}\n", *not_defined),
            "not at all": (use + "int totals(vector<int> numbers)" + body, *not_defined),
            "one that does not compile": (use + "int total(const vector<int> &numbers) { return t; }\n", "compile_error", "main.cpp:5"),
        }
        self.check_programs("CPP/0", [(what, *row) for what, row in programs.items()])

    def test_arguments_that_a_test_in_the_same_unit_could_give_otherwise(self):
        """Braces become what the program's function takes, and a variable may be taken by reference."""
        use = "#include <array>\n#include <string>\n#include <tuple>\n#include <vector>\nusing namespace std;\n"
        head, test = use + "double area(vector<pair<double, double>> p){\n", "#undef NDEBUG\n#include <assert.h>\nint main(){\n"
        two = test + "    assert (area({{2, 3}}) == 6);\n    assert (area({{4, 1}, {5, 5}}) == 4);\n}\n"
        named = test + "    vector<int> v = {1, 2};\n    const int k = 3;\n    assert (times(v, k) == 9);\n    assert (times(v, 1) == 3);\n}\n"
        problems = self.write("problems.jsonl", "".join(json.dumps(row) + "\n" for row in (
            {"task_id": "CPP/0", "declaration": head, "canonical_solution": "    return p[0].first * p[0].second;\n}\n", "test": two},
            {"task_id": "CPP/1", "declaration": use + "int times(vector<int> v, int k){\n", "test": named,
             "canonical_solution": "    int t = 0;\n    for (int n : v) t += n;\n    return t * k;\n}\n"})))
        body = "{ int t = 0; for (int n : v) t += n; return t * k; }\n"
        self.judged(problems, [
            ("tuples", "CPP/0", use + "double area(vector<tuple<double, float>> p) { auto [x, y] = p[0]; return x * y; }\n", "passed", ""),
            ("arrays", "CPP/0", use + "double area(const vector<array<double, 2>> &p) { return p[0][0] * p[0][1]; }\n", "passed", ""),
            ("lists", "CPP/0", use + "double area(vector<vector<double>> p) { return p[0][0] * p[0][1]; }\n", "passed", ""),
            ("a class", "CPP/0", use + "struct P { double x, y; };\ndouble area(const vector<P> &p) { return p[0].x * p[0].y; }\n",
             "passed", ""),
            ("a class, and wrong", "CPP/0", use + "struct P { double x, y; };\ndouble area(vector<P> p) { return p[0].x; }\n",
             "failed", "assertion failed"),
            ("too many for a tuple", "CPP/0", use + "double area(tuple<pair<double, double>> p) { return 6; }\n", "failed",
             "not a value of the declared type"),
            ("what braces cannot be", "CPP/0", use + "double area(vector<tuple<double>> p) { return 6; }\n", "compile_error",
             "does not define the function"),
            ("a variable by reference", "CPP/1", use + "int times(vector<int> &v, int k) " + body, "passed", ""),
            ("a template's", "CPP/1", use + "template <class T> T times(vector<T> &v, T k) " + body, "passed", ""),
            ("and wrong", "CPP/1", use + "int times(vector<int> &v, int k) { v.clear(); return 9; }\n", "failed", "assertion failed"),
            ("what is no variable", "CPP/1", use + "int times(vector<int> &v, int &k) " + body, "compile_error",
             "does not define the function"),
        ], "split")

    @support.release_only
    def test_the_compiler_sees_no_test(self):
        """No compiler's sandbox has files other than the program's own text and the stub's object code."""
        self.check([
            (name, "CPP/0", f"    return 0;\n}}\n#if __has_include(\"{name}\")\n#error it is there\n#endif\n", "failed",
             "assertion failed") for name in ("test.cpp", "stand-in.cpp", "judge", "/home/user/test.cpp", "main")
        ] + [("the control", "CPP/0", "    return 0;\n}\n#if __has_include(\"main.cpp\")\n#error it is there\n#endif\n", "compile_error",
              "it is there")])

    def test_assert_is_the_tests_own(self):
        """It needs no header, and what a program makes of it, or of NDEBUG, is nothing to the test, in one process neither."""
        one = {"task_id": "one", "language": "cpp", "tests": "int main() { assert(twice(2) == 4); }", "code": "int twice(int x) { return 2 * x; }"}
        two = {**one, "task_id": "two", "tests": "int main() { assert(twice(2) == 4); assert(next(2) == 3); }"}
        problems = self.write("problems.jsonl", "".join(json.dumps(p) + "\n" for p in (one, two)))
        program = "int twice(int x) { return %s * x; }\nint next(int x) { return x + 1; }\n"
        for task, integrity in (("one", "split"), ("two", "in-process")):
            self.judged(problems, [
                ("right", task, program % 2, "passed", ""), ("wrong", task, program % 3, "failed", "assertion failed: twice(2) == 4"),
                ("NDEBUG", task, "#define NDEBUG\n#include <cassert>\n" + program % 3, "failed", "assertion failed"),
                ("a macro", task, "#define assert(x) ((void)0)\n" + program % 3, "failed", "assertion failed"),
            ], integrity, "--no-self-check", "--allow-in-process")

    def test_a_program_beside_its_test_gives_its_words_no_other_meaning(self):
        """In one process neither by a macro nor by an operator of its own; those that it needs itself it may have."""
        row = {"task_id": "two", "language": "cpp", "tests": "int main() { assert(twice(2) == 4); assert(next({2}) == 3); }",
               "code": "#include <vector>\nint twice(int x) { return 2 * x; }\nint next(std::vector<int> x) { return x[0] + 1; }\n"}
        problems = self.write("problems.jsonl", json.dumps(row) + "\n")
        use = "#include <set>\n#include <vector>\nusing namespace std;\n"
        right = "int twice(int x) { return 2 * x; }\nint next(vector<int> x) { return x[0] + 1; }\n"
        wrong = "E twice(int x) { return {}; }\nE next(vector<int> x) { return {}; }\n"
        compare = "struct P { int x; bool operator<(const P &o) const { return x < o.x; } bool operator==(P o) const; };\n" \
                  "bool P::operator==(P o) const { return !(operator<(o) || o.operator<(*this)); }\nset<P> all;\n"
        no, made = ("compile_error", "operator of the program's own decides"), ("compile_error", "may make operators of its own")
        self.judged(problems, [(what, "two", use + text, *verdict) for what, text, verdict in [
            ("right", right, ("passed", "")), ("with operators", compare + right, ("passed", "")),
            ("with macros", "#define int long long\n#define twice2 twice\n" + right, ("passed", "")),
            ("equals everything", "struct E { template <class T> bool operator==(const T &) const { return true; } };\n" + wrong, no),
            ("by a reference", "struct E {};\ntemplate <class T> const bool &operator == (E, const T &) { static bool b = true; return b; }\n" + wrong, no),
            ("on two lines", "struct E { bool operator\\\n==(int) const { return true; } };\n" + wrong, no),
            ("as if of the system", "# 1 \"x.h\" 3\nstruct E { bool operator==(int) const { return true; } };\n" + wrong, no),
            ("a main that the harness takes for the test's", "extern \"C\" int q(int, char **, char **) { return 0; }\n"
             "int __real_main(int, char **, char **) __attribute__((alias(\"q\")));\n" + right.replace("2 * x", "3 * x"), ("failed", "twice(2) == 4")),
            ("another main by its symbol", "int q(int, char **, char **) asm(\"main\");\nint q(int, char **, char **) { return 0; }\n" + right,
             ("compile_error", "main")),
            ("in the middle of the word", "struct E { bool oper\\\nator==(int) const { return true; } };\n" + wrong, no),
            ("a conversion", "struct E { operator int() const { static int n = 0; return n++ ? 3 : 4; } };\n" + wrong, no),
            ("an explicit conversion", "struct E { template <class T> explicit operator T() const { return 4; } int v = 0; operator int() const; };\n"
             "E::operator int() const { static int n = 0; return n++ ? 3 : 4; }\n" + wrong, no),
            ("an operator by a macro", "#define O operator\nstruct E { bool O==(int) const { return true; } };\n" + wrong, made),
            ("an operator by two words", "#define C(a, b) a %:%: b\nstruct E { bool C(oper, ator)==(int) const { return true; } };\n" + wrong, made),
            ("with a conversion", "struct Yes { int v; explicit operator bool() const { return v; } };\nYes yes(int x) { return {x}; }\n"
             "static bool all = bool(yes(1)) && yes(1).operator bool();\n" + right, ("passed", "")),
            ("macros instead", "#define twice(x) 4\n%:define next(x) 3\n", ("compile_error", "not declared")),
        ]], "in-process", "--no-self-check", "--allow-in-process")


if __name__ == "__main__":
    unittest.main()
