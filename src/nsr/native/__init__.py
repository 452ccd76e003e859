"""Training steps written in C, built on first use; wherever that fails, torch trains the same models."""

from nsr.native.epochs import NativeTraining
from nsr.native.library import library

__all__ = ["NativeTraining", "library"]
