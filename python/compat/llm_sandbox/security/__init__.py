# SPDX-License-Identifier: MIT
from .package_validators import PACKAGE_NAME_PATTERNS, validate_package_name
from .policy import RestrictedModule, SecurityIssueSeverity, SecurityPattern, SecurityPolicy
from .seccomp import SeccompPolicy

__all__ = ["PACKAGE_NAME_PATTERNS", "RestrictedModule", "SecurityIssueSeverity", "SecurityPattern", "SecurityPolicy",
           "validate_package_name"]
