# SPDX-License-Identifier: MIT
"""Records with checked fields, like the pydantic models that the original uses; pydantic itself is not needed."""
import copy
import enum
import inspect
import json
import sys

from .exceptions import SandboxError


def _invalid(title, name, value, text):
    """Returns the exception for an invalid value: pydantic's ValidationError, which is a ValueError, if the program has loaded
    pydantic, because callers catch it by that name; else ValueError."""
    core = sys.modules.get("pydantic_core")
    if core is not None:
        try:
            return core.ValidationError.from_exception_data(title, [
                {"type": "value_error", "loc": (name,), "input": value, "ctx": {"error": ValueError(text)}}])
        except (AttributeError, KeyError, TypeError):
            pass  # a version of pydantic without this function
    return ValueError("{}.{}: {}".format(title, name, text))


class Field(object):
    def __init__(self, default=None, check=None, factory=None, required=False):
        self.default, self.check, self.factory, self.required = default, check, factory, required

    def initial(self):
        """The value where none is given."""
        return self.factory() if self.factory else self.default


class Model(object):
    """Fields are class attributes of type Field. Equality is by value; ``frozen`` records cannot be changed, and refuse
    unknown fields."""

    _frozen = False
    _forbid = False

    #: Fields beyond those of the class are never kept.
    model_extra = None

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        kind = inspect.Parameter
        cls.__signature__ = inspect.Signature([
            kind(name, kind.KEYWORD_ONLY, default=kind.empty if field.required else field.initial())
            for name, field in cls._fields().items()])

    def __init__(self, *values, **given):
        """The original takes keywords alone; its documents have models by position, too."""
        fields = self._fields()
        if len(values) > len(fields):
            raise TypeError("{} has {} fields, and {} values were given".format(type(self).__name__, len(fields), len(values)))
        for name, value in zip(fields, values):
            if name in given:
                raise TypeError("{} is given by position and by its name".format(name))
            given[name] = value
        object.__setattr__(self, "model_fields_set", set(given) & set(fields))
        for name, field in fields.items():
            if name in given:
                value = given.pop(name)
            elif field.required:
                raise _invalid(type(self).__name__, name, given, "the field is missing")
            else:
                value = field.initial()
            object.__setattr__(self, name, self._checked(name, field, value))
        if given and self._forbid:
            raise _invalid(type(self).__name__, sorted(given)[0], given, "extra fields are not permitted: " + ", ".join(sorted(given)))
        try:
            self._complete()
        except ValueError as error:
            raise _invalid(type(self).__name__, "", given, str(error)) from error

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
        except (TypeError, ValueError) as error:
            if isinstance(error, SandboxError):
                raise  # callers catch it by its own name
            raise _invalid(cls.__name__, name, value, str(error)) from error

    def _complete(self):
        """Called after all fields are set."""

    def __setattr__(self, name, value):
        if self._frozen and name in self._fields():
            raise _invalid(type(self).__name__, name, value, "the instance is frozen")
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self):
        return hash(tuple(sorted((name, repr(value)) for name, value in self._values().items())))

    def __repr__(self):
        return "{}({})".format(type(self).__name__, ", ".join("{}={!r}".format(*item) for item in self._values().items()))

    def _values(self):
        return {name: getattr(self, name) for name in self._fields()}

    def model_dump(self, *, mode="python", include=None, exclude=None, by_alias=False, exclude_unset=False, exclude_defaults=False,
                   exclude_none=False, **_options):
        """A dictionary of the fields; ``mode="json"``: of values that JSON has."""
        fields, found = self._fields(), {}
        for name, value in self._values().items():
            left_out = (include is not None and name not in include) or name in (exclude or ()) or (exclude_none and value is None) \
                or (exclude_unset and name not in self.model_fields_set) or (exclude_defaults and value == fields[name].initial())
            if not left_out:
                found[name] = _dumped(value)
        return json.loads(json.dumps(found, default=_plain)) if mode == "json" else found

    def model_copy(self, *, update=None, deep=False):
        made = type(self)(**dict(self._values(), **(update or {})))
        object.__setattr__(made, "model_fields_set", self.model_fields_set | set(update or ()))
        return copy.deepcopy(made) if deep else made

    def model_dump_json(self, *, indent=None, **options):
        return json.dumps(self.model_dump(**options), indent=indent, separators=None if indent else (",", ":"), ensure_ascii=False, default=_plain)

    @classmethod
    def model_construct(cls, _fields_set=None, **values):
        """Makes an instance without checks."""
        made = cls.__new__(cls)
        for name, field in cls._fields().items():
            object.__setattr__(made, name, values[name] if name in values else field.initial())
        object.__setattr__(made, "model_fields_set", set(values) if _fields_set is None else set(_fields_set))
        return made

    @classmethod
    def model_json_schema(cls, **_options):
        """A JSON schema with the names of the fields, their defaults, and which are required."""
        fields = cls._fields()
        properties = {name: {"title": name.replace("_", " ").title()} if field.required else
                      {"title": name.replace("_", " ").title(), "default": json.loads(json.dumps(_dumped(field.initial()), default=_plain))}
                      for name, field in fields.items()}
        return {"title": cls.__name__, "type": "object", "properties": properties,
                "required": [name for name, field in fields.items() if field.required]}

    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        """Called by pydantic for a model of the program's own that has a field of this type."""
        from pydantic_core import core_schema
        return core_schema.no_info_plain_validator_function(
            cls.model_validate, serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value.model_dump()))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema, handler):
        return cls.model_json_schema()

    @classmethod
    def model_validate(cls, value):
        """Makes an instance from a dictionary; an instance is returned as it is."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            raise _invalid(cls.__name__, "", value, "neither a dictionary nor a {}".format(cls.__name__))
        return cls(**value)

    @classmethod
    def model_validate_json(cls, text):
        try:
            value = json.loads(text)
        except ValueError as error:
            raise _invalid(cls.__name__, "", text, "no JSON: {}".format(error)) from error
        return cls.model_validate(value)


#: The names of the same methods in pydantic 1.
for _old, _new in (("dict", "model_dump"), ("copy", "model_copy"), ("json", "model_dump_json"), ("parse_obj", "model_validate"),
                   ("validate", "model_validate"), ("parse_raw", "model_validate_json"), ("construct", "model_construct"),
                   ("schema", "model_json_schema")):
    setattr(Model, _old, vars(Model)[_new])


def _dumped(value):
    """Replaces models inside the value by dictionaries."""
    if isinstance(value, Model):
        return value.model_dump()
    return type(value)(_dumped(item) for item in value) if type(value) in (list, tuple) else value


def _plain(value):
    """Converts a value that JSON does not have."""
    return value.value if isinstance(value, enum.Enum) else list(value)


def text(value):
    if isinstance(value, enum.Enum):
        value = value.value
    if not isinstance(value, str):
        raise ValueError("{!r} is not text".format(value))
    return value


def boolean(value):
    if not isinstance(value, bool):
        raise ValueError("{!r} is neither True nor False".format(value))
    return value


def _counted(value):
    """Converts text to a number; other values are returned as they are."""
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return float(value)
    return value


def number(value):
    value = _counted(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("{!r} is not a number".format(value))
    return value


def above_zero(value):
    if not number(value) > 0:
        raise ValueError("{!r} is not greater than 0".format(value))
    return _counted(value)


def optional(check):
    return lambda value: None if value is None else check(value)


def at_least(least, whole=True):
    def check(value):
        value = _counted(value)
        if whole and isinstance(value, float) and value.is_integer():
            value = int(value)
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
            raise ValueError("{!r} is not a name of a variable".format(name))
        if not isinstance(content, str) or "\0" in content:
            raise ValueError("the variable {} is not text".format(name))
    return dict(value)
