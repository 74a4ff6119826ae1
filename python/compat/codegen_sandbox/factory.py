# SPDX-License-Identifier: MIT
from .nodejs_sandbox import NodejsCodegenSandbox
from .python_sandbox import PythonCodegenSandbox

_SANDBOXES = {"python": PythonCodegenSandbox, "node": NodejsCodegenSandbox}


def init_codegen_sandbox(coding_language, *, custom_image_name=None, requirements=None, network_mode="none", config="small"):
    """A sandbox for "python" or "node"."""
    if coding_language not in _SANDBOXES:
        raise ValueError("unsupported coding language: {}".format(coding_language))
    return _SANDBOXES[coding_language](custom_image_name=custom_image_name, requirements=requirements, network_mode=network_mode, config=config)
