"""Tables with planted statements, and tables of independent columns."""

import numpy as np
import pandas as pd


def orders(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """Orders of a shop: sums, products, dates, categories and gaps, each with a statement."""
    generator = np.random.default_rng([1, seed])
    quantity, cents = generator.integers(1, 20, rows), generator.integers(100, 9000, rows)
    net, tax = generator.integers(100, 10_000, rows), generator.integers(1, 2_000, rows)
    start = pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 300, rows), unit="D")
    shipped = start + pd.to_timedelta(generator.integers(0, 60, rows), unit="D")
    due = start + pd.Timedelta(30, "D")
    kind = generator.choice(["private", "business", "other"], rows)
    city = generator.choice(list("ABCDEFGH"), rows)
    low = generator.integers(0, 50, rows)
    return pd.DataFrame(
        {
            "low": low,
            "high": low + generator.integers(0, 30, rows),
            "quantity": quantity,
            "price": cents / 100,
            "total": quantity * cents / 100,
            "net": net / 100,
            "tax": tax / 100,
            "gross": (net + tax) / 100,
            "kind": kind,
            "first_name": np.where(kind == "private", "Ada", None),
            "start": start,
            "due": due,
            "shipped": shipped,
            "late": shipped > due,
            "city": city,
            "country": np.where(np.isin(city, list("ABC")), "X", np.where(np.isin(city, list("DE")), "Y", "Z")),
            "noise": generator.normal(size=rows).round(3),
        }
    )


def independent(seed: int) -> pd.DataFrame:
    """A table of independent columns of all kinds, some with gaps."""
    generator = np.random.default_rng([2, seed])
    rows = int(generator.choice([20, 60, 200, 1000]))
    columns = {f"c{place}": _column(generator, rows) for place in range(generator.integers(4, 13))}
    return pd.DataFrame(columns)


def _column(generator: np.random.Generator, rows: int) -> pd.Series:
    makers = (
        lambda: generator.integers(0, int(generator.choice([2, 5, 20, 1000])), rows),
        lambda: generator.normal(generator.uniform(-5, 5), generator.uniform(0.1, 5), rows).round(2),
        lambda: generator.lognormal(0, 1.5, rows),
        lambda: generator.choice(list("abcdefgh")[: generator.integers(2, 8)], rows),
        lambda: generator.random(rows) < generator.uniform(0.02, 0.98),
        lambda: pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 400, rows), unit="D"),
        lambda: generator.poisson(generator.uniform(0.1, 4), rows),
        lambda: generator.uniform(0, 1, rows).round(1),
        lambda: generator.choice([f"x{number}" for number in range(max(2, rows // 3))], rows),
    )
    column = pd.Series(makers[generator.integers(len(makers))]())
    if generator.random() < 0.35:
        present = generator.random(rows) > generator.uniform(0.01, 0.6)
        column = column.astype(object).where(present)
    return column
