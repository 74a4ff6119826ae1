# SPDX-License-Identifier: MIT
from .nodejs_sandbox import NodejsCodegenSandbox
from .python_sandbox import PythonCodegenSandbox

_SANDBOXES = {"python": PythonCodegenSandbox, "node": NodejsCodegenSandbox}


def init_codegen_sandbox(coding_language, *, custom_image_name=None, requirements=None, network_mode="none", config="small", custom_image=None):
    """A sandbox for "python" or "node". ``custom_image`` is what the README calls ``custom_image_name``."""
    custom_image_name = custom_image if custom_image_name is None else custom_image_name
    if coding_language not in _SANDBOXES:
        raise ValueError("unsupported coding language: {}".format(coding_language))
    return _SANDBOXES[coding_language](custom_image_name=custom_image_name, requirements=requirements, network_mode=network_mode, config=config)
