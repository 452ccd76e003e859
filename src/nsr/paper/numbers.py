"""How numbers are printed on the page, in the terminal and in README and docs."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal


def number(value: float, digits: int = 3) -> str:
    """A value, rounded half up; in scientific notation where the digits would all be zeros.

    What is below 1 is never printed as 1, so that 1.000 means that every row of every seed was right.
    """
    if 0 < abs(value) < 10**-digits:
        return f"{value:.1e}"
    if abs(value) >= 1000:
        return f"{value:.3g}"
    return rounded(value, digits)


def rounded(value: float, digits: int) -> str:
    """The same without an exponent."""
    text = _cut(value, digits, ROUND_HALF_UP)
    return _cut(1 - 10**-digits, digits, ROUND_HALF_UP) if float(text) == 1 > value else text


def interval(low: float, high: float, digits: int = 3) -> str:
    """An interval, rounded outward."""
    ends = (low, ROUND_FLOOR), (high, ROUND_CEILING)
    return " to ".join(
        number(end, digits) if abs(end) >= 1000 or 0 < abs(end) < 10**-digits else _cut(end, digits, way)
        for end, way in ends
    )


def share_interval(low: float, high: float) -> str:
    """The interval of a share with two digits, rounded outward."""
    return f"{_cut(low, 2, ROUND_FLOOR)} to {_cut(high, 2, ROUND_CEILING)}"


def _cut(value: float, digits: int, way: str) -> str:
    # Twelve digits are left of a float, so that the rounding of sums does not decide.
    exact = Decimal(f"{value:.12g}")
    return f"{exact.quantize(Decimal(1).scaleb(-digits), way) + 0:f}"
