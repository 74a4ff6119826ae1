# SPDX-License-Identifier: MIT
from .base import AbstractLanguageHandler, LanguageConfig, PlotDetectionConfig, PlotLibrary
from .handlers import CppHandler, GoHandler, JavaHandler, JavaScriptHandler, PythonHandler, RHandler, RubyHandler

__all__ = ["AbstractLanguageHandler", "CppHandler", "GoHandler", "JavaHandler", "JavaScriptHandler", "LanguageConfig", "PlotDetectionConfig",
           "PlotLibrary", "PythonHandler", "RHandler", "RubyHandler"]
