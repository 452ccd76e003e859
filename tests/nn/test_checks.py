import numpy as np
import pytest
import torch

from nsr.nn.checks import floating_dtype, positive_integer, positive_number


def test_numbers_of_numpy_are_numbers():
    assert positive_integer("inputs", np.int64(3)) == 3
    assert positive_number("scale", np.float32(0.5)) == 0.5
    assert positive_number("scale", 3) == 3.0


def test_booleans_are_not():
    with pytest.raises(ValueError, match="^scale must be a number, got True$"):
        positive_number("scale", True)


def test_the_default_dtype_is_torchs():
    assert floating_dtype(None) == torch.get_default_dtype()
