"""The pieces of a numeric target: sums of columns, each exact on many rows, and how the target chooses between them."""

from nsr.learn.pieces.finding import Pieces, find_pieces, value_pieces
from nsr.learn.pieces.order import recognise_order, recognise_ranges
from nsr.learn.pieces.piece import Piece
from nsr.learn.pieces.points import points
from nsr.learn.pieces.targets import Targets

__all__ = ["Piece", "Pieces", "Targets", "find_pieces", "points", "recognise_order", "recognise_ranges", "value_pieces"]
