# SPDX-License-Identifier: MIT
"""What an agent is told of the languages. Versions and libraries are this machine's, and differ from the original's images."""

_HERE = "this machine's"


def _language(package_manager, use_cases, *examples, plots=False):
    return {"version": _HERE, "package_manager": package_manager, "preinstalled_libraries": [], "use_cases": use_cases,
            "visualization_support": plots,
            "examples": [{"title": title, "description": description, "code": code} for title, description, code in examples]}


LANGUAGE_RESOURCES = {
    "python": _language(
        "pip", ["Data science", "Automation", "Machine learning", "Text"],
        ("Hello", "Prints a line", "print('Hello')"),
        ("A plot", "With libraries=['matplotlib']; the plot comes with the answer",
         "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3], [1, 4, 9])\nplt.show()"), plots=True),
    "javascript": _language(
        "npm", ["Web", "JSON", "Automation"], ("Hello", "Prints a line", "console.log('Hello')")),
    "java": _language(
        "none", ["Larger programs"],
        ("Hello", "Prints a line", "public class Main {\n    public static void main(String[] args) {\n        System.out.println(\"Hello\");\n    }\n}")),
    "cpp": _language(
        "none", ["Algorithms", "Speed"], ("Hello", "Prints a line", "#include <iostream>\nint main() { std::cout << \"Hello\\n\"; }")),
    "go": _language(
        "none", ["Services", "Concurrency"], ("Hello", "Prints a line", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"Hello\") }")),
    "ruby": _language("none", ["Text", "Automation"], ("Hello", "Prints a line", "puts 'Hello'")),
    "r": _language(
        "none", ["Statistics", "Plots"], ("Hello", "Prints a line", "cat('Hello\\n')"),
        ("A plot", "The plot comes with the answer", "plot(1:10, (1:10)^2)"), plots=True),
}
