"""`tf.make_template`: functions that create their variables at the first call and share them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_scopes import VariableScope
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import get_collection
from sessrun.reference.public import public

__all__ = ["Template", "make_template"]


class Template:
    """A function in a separate variable scope, so that every call uses the same variables.

    Args:
      name: the scope's name, made unique.
      func: makes operations; its variables come from `tf.get_variable`.
      create_scope_now: whether its scope is the one open now, not the one open where it is first
        called.
      unique_name: the scope's name, which is not made unique.
      custom_getter: the scope's custom getter.

    Raises:
      ValueError: there is no name.

    """

    def __init__(
        self,
        name: str,
        func: Callable[..., object],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Callable[..., object] | None = None,
    ) -> None:
        if name is None:
            raise bad_value("name cannot be None.")
        self._name = name
        self._func = func
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._scope: VariableScope | None = None
        self._was_called = False
        if create_scope_now:
            with self._new_scope(auxiliary_name_scope=False) as scope:
                self._scope = scope

    def _new_scope(self, **options: Any) -> variable_scope:
        return variable_scope(
            self._unique_name, self._name, custom_getter=self._custom_getter, **options
        )

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the function in the template's scope.

        Raises:
          ValueError: a call after the first makes a trainable variable.

        """
        if self._scope is not None:
            with variable_scope(self._scope, reuse=self._was_called):
                return self._called(args, kwargs)
        with self._new_scope() as scope:
            self._scope = scope
            return self._called(args, kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, object]) -> object:
        before = len(get_collection(GraphKeys.TRAINABLE_VARIABLES))
        result = self._func(*args, **kwargs)
        new_variables = get_collection(GraphKeys.TRAINABLE_VARIABLES)[before:]
        if self._was_called and new_variables:
            raise bad_value(
                "Trainable variable created when calling a template after the first time, perhaps "
                f"you used tf.Variable when you meant tf.get_variable: {new_variables}"
            )
        self._was_called = True
        return result

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    @property
    def func(self) -> Callable[..., object]:
        """The function."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """Its scope; None before the first call, unless `create_scope_now` was set."""
        return self._scope

    @property
    def var_scope(self) -> VariableScope | None:
        """The older name of `variable_scope`."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of its scope with a final "/", or None."""
        if self._scope is None:
            return None
        name = self._scope.name
        return name if not name or name.endswith("/") else name + "/"

    def _collected(self, key: str) -> list[Variable]:
        name = self.variable_scope_name
        return [] if name is None else get_collection(key, name)

    @property
    def variables(self) -> list[Variable]:
        """The variables of its scope: global, then local."""
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self) -> list[Variable]:
        """The trainable variables of its scope."""
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """The variables of its scope that are not trainable."""
        trained = self.trainable_variables
        return [one for one in self.variables if not any(one is other for other in trained)]

    @property
    def global_variables(self) -> list[Variable]:
        """Its global variables."""
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Variable]:
        """Its local variables."""
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


@public("make_template")
def make_template(
    name_: str,
    func_: Callable[..., object],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., object] | None = None,
    **kwargs: object,
) -> Template:
    """A function that shares its variables between its calls.

    Args:
      name_: as for `Template`.
      func_: as for `Template`.
      create_scope_now_: as for `Template`.
      unique_name_: as for `Template`.
      custom_getter_: as for `Template`.
      **kwargs: arguments that every call of the function gets.

    Raises:
      ValueError: there is no name.

    """
    func = functools.partial(func_, **kwargs) if kwargs else func_
    return Template(name_, func, create_scope_now_, unique_name_, custom_getter_)
