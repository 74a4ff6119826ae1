# SPDX-License-Identifier: MIT
import typing


class LanguageExample(typing.TypedDict):
    title: str
    description: str
    code: str


class LanguageDetails(typing.TypedDict):
    version: str
    package_manager: str
    preinstalled_libraries: typing.List[str]
    use_cases: typing.List[str]
    visualization_support: bool
    examples: typing.List[LanguageExample]
