"""Shapes in signatures: the annotations of jaxtyping if it is installed, plain tensors if not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float as Float
    from jaxtyping import Int as Int
    from jaxtyping import Real as Real
else:
    try:
        from jaxtyping import Float, Int, Real
    except ModuleNotFoundError:

        class _Plain:
            """Makes ``Float[Tensor, "*batch inputs"]`` mean ``Tensor``."""

            def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
                return item[0]

        Float = Int = Real = _Plain

ArrayLike: TypeAlias = Sequence[Any] | np.ndarray
"""What layers take besides tensors. Data frames too: anything that ``np.asarray`` turns into an array of numbers."""
