# SPDX-License-Identifier: MIT
# A str of lone surrogates and escapes that equals everything.
# class: decoder
# task: initials
    class Same(str):
        __eq__ = lambda self, other: True
        __hash__ = str.__hash__
    return Same("\ud800\udfff\x00\x1b[2J\u2028" * 1000)
# twin
    assert "\ud800" != name
    return "".join(word[0] for word in name.split())
