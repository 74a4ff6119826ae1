# SPDX-License-Identifier: MIT
"""WindowsMxcConfig, as data: fumehood has no such sandboxes."""
from .. import _model


class WindowsMxcConfig(_model.Model):
    _frozen = _forbid = True
    network = _model.Field("none", _model.one_of("none", "host"))
    read_only_paths = _model.Field((), _model.texts)
    deny_paths = _model.Field((), _model.texts)
    python_executable = _model.Field(None, _model.text)
    javascript_executable = _model.Field(None, _model.text)
    env = _model.Field(factory=dict, check=_model.variables)
    max_output_bytes = _model.Field(8 << 20, _model.at_least(1))
    max_artifact_bytes = _model.Field(16 << 20, _model.at_least(1))
