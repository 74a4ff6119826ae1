# SPDX-License-Identifier: MIT
"""The original's MCP server (python -m llm_sandbox.mcp_server.server): its tools, resource and environment variables. Needs the
package mcp, as the original does; ``fumehood mcp`` needs no package."""
import decimal
import json
import logging
import os
import typing
import uuid

try:
    from mcp.types import ImageContent, TextContent
    try:
        from mcp.server import MCPServer as _Server  # mcp 2
    except ImportError:
        from mcp.server.fastmcp import FastMCP as _Server  # mcp 1
except ImportError as error:
    raise ImportError("{}: install the package mcp (pip install mcp), or use `fumehood mcp`, which needs none".format(error)) from error

from .. import ArtifactSandboxSession, SandboxBackend, SandboxSession, SupportedLanguage, ValidationError
from ..data import ExecutionResult
from ..session import _check_dependency
from .const import LANGUAGE_RESOURCES

logger = logging.getLogger("llm-sandbox-mcp")
mcp = _Server("llm-sandbox")

_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")
#: Backends whose runtime_configs the SANDBOX_* variables set.
_CONFIGURABLE = (SandboxBackend.DOCKER, SandboxBackend.PODMAN, SandboxBackend.MICROMAMBA)
_CPU_PERIOD = 100000


def _get_backend():
    backend = SandboxBackend(os.environ.get("BACKEND", "docker"))
    _check_dependency(backend)
    return backend


def _get_commit_container():
    return os.environ.get("COMMIT_CONTAINER", "false").lower() in _TRUE


def _get_keep_template():
    return os.environ.get("KEEP_TEMPLATE", "true").lower() in _TRUE


def _get_kube_namespace():
    return os.environ.get("NAMESPACE", "default")


def _build_commit_image_tag(language):
    """A tag of its own for each commit, so that no image that others start from is replaced."""
    return "llm-sandbox-mcp/{}:{}".format(language.lower(), uuid.uuid4().hex[:12])


def _get_optional_str_env(name):
    return os.environ.get(name, "").strip() or None


def _get_optional_bool_env(name):
    if name not in os.environ:
        return None
    word = os.environ[name].strip().lower()
    if word not in _TRUE + _FALSE:
        raise ValidationError("{} must be one of: true, false, 1, 0, yes, no, on, off".format(name))
    return word in _TRUE


def _get_optional_list_env(name):
    return [item.strip() for item in os.environ.get(name, "").split(",") if item.strip()] or None


def _cpus(value, name, whole):
    try:
        number = decimal.Decimal(value.strip())
    except decimal.InvalidOperation:
        raise ValidationError("{} must be a positive number".format(name)) from None
    if not number > 0:
        raise ValidationError("{} must be greater than 0".format(name))
    if whole and number != number.to_integral_value():
        raise ValidationError("{} must be a whole number when mapped to cpu_period/cpu_quota".format(name))
    quota = int(number * _CPU_PERIOD)
    if quota <= 0:
        raise ValidationError("{} is too small to translate into cpu_quota".format(name))
    return {"cpu_period": _CPU_PERIOD, "cpu_quota": quota}


def _parse_cpu_count_env(value, name):
    return _cpus(value, name, True)


def _parse_cpus_env(value):
    return _cpus(value, "SANDBOX_CPUS", False)


#: Variable, setting in runtime_configs, how it is read.
_SETTINGS = (("SANDBOX_NETWORK_MODE", "network_mode", _get_optional_str_env), ("SANDBOX_MEMORY", "mem_limit", _get_optional_str_env),
             ("SANDBOX_MEM_LIMIT", "mem_limit", _get_optional_str_env), ("SANDBOX_READ_ONLY", "read_only", _get_optional_bool_env),
             ("SANDBOX_PRIVILEGED", "privileged", _get_optional_bool_env), ("SANDBOX_CAP_DROP", "cap_drop", _get_optional_list_env),
             ("SANDBOX_SECURITY_OPT", "security_opt", _get_optional_list_env))
_NAMES = {name for name, _, _ in _SETTINGS} | {"SANDBOX_CPUS", "SANDBOX_CPU_COUNT"}


def _get_runtime_configs():
    configs = {}
    for name, setting, read in _SETTINGS:
        value = read(name)
        if value is not None:
            configs[setting] = value
    if "SANDBOX_CPU_COUNT" in os.environ:
        configs.update(_parse_cpu_count_env(os.environ["SANDBOX_CPU_COUNT"], "SANDBOX_CPU_COUNT"))
    elif "SANDBOX_CPUS" in os.environ:
        configs.update(_parse_cpus_env(os.environ["SANDBOX_CPUS"]))
    return configs


def _validate_backend_runtime_configs(backend, runtime_configs=None):
    if backend not in _CONFIGURABLE and (runtime_configs or _NAMES & set(os.environ)):
        raise ValidationError("SANDBOX_* runtime config environment variables are not supported for backend '{}'".format(backend.value))


def _supports_visualization(language):
    return LANGUAGE_RESOURCES.get(language, {}).get("visualization_support", False)


def _options(language, timeout):
    """The arguments of a session, from the environment."""
    backend = _get_backend()
    _validate_backend_runtime_configs(backend)
    configs = _get_runtime_configs()
    _validate_backend_runtime_configs(backend, configs)
    options = {"lang": language, "keep_template": _get_keep_template(), "commit_container": _get_commit_container(), "verbose": False,
               "backend": backend, "session_timeout": timeout, "kube_namespace": _get_kube_namespace()}
    if options["commit_container"] and backend in (SandboxBackend.DOCKER, SandboxBackend.MICROMAMBA):
        options["commit_image_tag"] = _build_commit_image_tag(language)
    if configs:
        options["runtime_configs"] = configs
    return options


@mcp.tool()
def execute_code(code: str, language: str = "python", libraries: typing.Optional[typing.List[str]] = None,
                 timeout: int = 30) -> typing.List[typing.Union[ImageContent, TextContent]]:
    """Runs code in a sandbox of its own and returns exit code, output, and the last plot that it drew.

    Args:
        code: The program
        language: python, javascript, java, cpp, go, ruby or r
        libraries: Packages that the program needs (python: from PyPI, javascript: from npm)
        timeout: Seconds
    """
    try:
        plots = _supports_visualization(language)
        with (ArtifactSandboxSession if plots else SandboxSession)(**_options(language, timeout)) as session:
            more = {"clear_plots": True} if plots else {}
            result = session.run(code=code, libraries=libraries or [], timeout=timeout, **more)
    except Exception as error:  # the model reads it
        logger.exception("Error executing code")
        return [TextContent(text=ExecutionResult(exit_code=1, stderr=str(error)).to_json(), type="text")]
    answer = []
    drawn = getattr(result, "plots", None) if plots else None
    if drawn:
        kind = {"svg": "image/svg+xml", "pdf": "application/pdf", "html": "text/html"}.get(drawn[-1].format.value, "image/" + drawn[-1].format.value)
        answer.append(ImageContent(data=drawn[-1].content_base64, mimeType=kind, type="image"))
    answer.append(TextContent(text=result.to_json(include_plots=False), type="text"))
    return answer


@mcp.tool()
def get_supported_languages() -> TextContent:
    """The names of the languages."""
    return TextContent(text=json.dumps([language.value for language in SupportedLanguage], indent=2), type="text")


@mcp.tool()
def get_language_details(language: str) -> TextContent:
    """What a language is good for here, with examples.

    Args:
        language: Its name
    """
    try:
        return TextContent(text=json.dumps(LANGUAGE_RESOURCES.get(SupportedLanguage(language).value), indent=2), type="text")
    except ValueError:
        return TextContent(text=json.dumps({"error": "Unsupported language: {}".format(language)}), type="text")


@mcp.resource("sandbox://languages")
def language_details() -> str:
    """All that get_language_details says, of every language."""
    return json.dumps(LANGUAGE_RESOURCES, indent=2)


def main():
    logging.basicConfig(level=logging.INFO, format="[%(asctime)s] [%(name)s] [%(levelname)s] %(message)s")
    logger.info("Starting MCP server with backend: %s", _get_backend())
    mcp.run()


if __name__ == "__main__":
    main()
