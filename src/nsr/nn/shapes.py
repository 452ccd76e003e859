"""Shapes in signatures: jaxtyping's annotations where it is installed, plain tensors where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxtyping import Float as Float
    from jaxtyping import Int as Int
    from jaxtyping import Real as Real
else:
    try:
        from jaxtyping import Float, Int, Real
    except ModuleNotFoundError:

        class _Plain:
            """``Float[Tensor, "*batch inputs"]`` is then ``Tensor``."""

            def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
                return item[0]

        Float = Int = Real = _Plain
