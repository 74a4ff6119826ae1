# SPDX-License-Identifier: MIT
"""Prints what the llm_sandbox that is imported shows to its users, as JSON: of each module its classes with their bases, constructors,
methods and members, and its functions. Run with the genuine package and with ours by test_frameworks.py."""
import enum
import importlib
import inspect
import json
import sys
import warnings

MODULES = ["", ".backends", ".const", ".core.config", ".core.session_base", ".data", ".docker", ".exceptions", ".interactive", ".kubernetes",
           ".language_handlers.base", ".language_handlers.factory", ".local.config", ".micromamba", ".podman", ".pool", ".pool.config",
           ".pool.exceptions", ".pool.factory", ".pool.session", ".security", ".security.policy", ".security.seccomp", ".session"]


def parameters(value):
    """Names, kinds and defaults; None for what has no signature."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[p.name, str(p.kind), "-" if p.default is p.empty else repr(p.default) if not callable(p.default) else "…"] for p in found
            if p.name not in ("self", "cls")]


def class_of(value):
    if issubclass(value, enum.Enum):
        return {"members": {member.name: str(member.value) for member in value}}
    plain = [name for name in dir(value) if not name.startswith("_") and str(getattr(getattr(value, name, None), "__module__", "")).startswith("llm_sandbox")]
    methods = {name: parameters(inspect.getattr_static(value, name).__func__ if isinstance(inspect.getattr_static(value, name), (classmethod, staticmethod))
                                else getattr(value, name)) for name in plain if callable(getattr(value, name))}
    if hasattr(value, "model_fields_set") or hasattr(value, "model_dump"):  # pydantic's model: its validators are the package's own affair
        methods = {name: words for name, words in methods.items() if not name.startswith(("validate_", "model_"))}
        return {"call": [[word, kind, "…" if default in ("<factory>", "{}") or default.startswith("SeccompPolicy(") else default]
                         for word, kind, default in parameters(value)], "methods": methods}
    properties = [name for name in dir(value) if not name.startswith("_") and isinstance(inspect.getattr_static(value, name), property)]
    return {"exception": issubclass(value, BaseException), "call": parameters(value), "methods": methods, "properties": properties,
            "bases": [base.__name__ for base in value.__mro__ if base.__module__.startswith("llm_sandbox")]}


def main():
    warnings.simplefilter("ignore")
    found = {}
    for name in MODULES:
        module = importlib.import_module("llm_sandbox" + name)
        mine = {}
        for word, value in vars(module).items():
            if word.startswith("_") or inspect.ismodule(value) or not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            if value.__module__.startswith("llm_sandbox") and (value.__module__ == module.__name__ or word in getattr(module, "__all__", ())):
                mine[word] = class_of(value) if inspect.isclass(value) else {"call": parameters(value)}
        found["llm_sandbox" + name] = mine
    json.dump({"modules": found, "all": sorted(sys.modules["llm_sandbox"].__all__)}, sys.stdout)


main()
