# SPDX-License-Identifier: MIT
"""Records with checked fields, like the pydantic models that the original uses; pydantic itself is not needed."""
import enum


class Field(object):
    def __init__(self, default=None, check=None, factory=None, required=False):
        self.default, self.check, self.factory, self.required = default, check, factory, required


class Model(object):
    """Fields are class attributes of type Field. Equality is by value; ``frozen`` records cannot be changed, and refuse
    unknown fields."""

    _frozen = False
    _forbid = False

    def __init__(self, **given):
        fields = self._fields()
        for name, field in fields.items():
            if name in given:
                value = given.pop(name)
            elif field.required:
                raise ValueError("{}: the field {} is missing".format(type(self).__name__, name))
            else:
                value = field.factory() if field.factory else field.default
            object.__setattr__(self, name, self._checked(name, field, value))
        if given and self._forbid:
            raise ValueError("{}: extra fields are not permitted: {}".format(type(self).__name__, ", ".join(sorted(given))))
        self._complete()

    @classmethod
    def _fields(cls):
        found = {}
        for kind in reversed(cls.__mro__):
            found.update({name: value for name, value in vars(kind).items() if isinstance(value, Field)})
        return found

    @classmethod
    def _checked(cls, name, field, value):
        if field.check is None or (value is None and not field.required and field.default is None and field.factory is None):
            return value
        try:
            return field.check(value)
        except TypeError as error:
            raise ValueError("{}.{}: {}".format(cls.__name__, name, error)) from error
        except ValueError as error:
            raise ValueError("{}.{}: {}".format(cls.__name__, name, error)) from error

    def _complete(self):
        """Called after all fields are set."""

    def __setattr__(self, name, value):
        if self._frozen and name in self._fields():
            raise ValueError("{} is frozen".format(type(self).__name__))
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(self) is type(other) and self.model_dump() == other.model_dump()

    def __hash__(self):
        return hash(tuple(sorted((name, repr(value)) for name, value in self.model_dump().items())))

    def __repr__(self):
        return "{}({})".format(type(self).__name__, ", ".join("{}={!r}".format(*item) for item in self.model_dump().items()))

    def model_dump(self):
        return {name: getattr(self, name) for name in self._fields()}

    def model_copy(self, update=None):
        return type(self)(**dict(self.model_dump(), **(update or {})))

    dict = model_dump
    copy = model_copy


def text(value):
    if isinstance(value, enum.Enum):
        value = value.value
    if not isinstance(value, str):
        raise ValueError("{!r} is no text".format(value))
    return value


def boolean(value):
    if not isinstance(value, bool):
        raise ValueError("{!r} is neither True nor False".format(value))
    return value


def number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("{!r} is no number".format(value))
    return value


def at_least(least, whole=True):
    def check(value):
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or value < least:
            raise ValueError("{!r} is not {} of at least {}".format(value, "a whole number" if whole else "a number", least))
        return value
    return check


def one_of(*values):
    def check(value):
        if value not in values:
            raise ValueError("{!r} is none of {}".format(value, ", ".join(values)))
        return value
    return check


def texts(value):
    return tuple(text(item) for item in value)


def variables(value):
    for name, content in dict(value).items():
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise ValueError("{!r} is no name of a variable".format(name))
        if not isinstance(content, str) or "\0" in content:
            raise ValueError("the variable {} is no text".format(name))
    return dict(value)
