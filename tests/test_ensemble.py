import pytest
import torch
from torch import nn

from nsr import MLP, NAU, NSR, Ensemble


def registers(seeds) -> Ensemble:
    return Ensemble(lambda generator: NSR(2, generator=generator), seeds)


X = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.0, 0.0]])


def test_members_are_the_modules_their_seeds_build():
    ensemble = registers([3, 1, 41])
    assert len(ensemble) == 3
    for seed in (3, 1, 41):
        alone = NSR(2, generator=torch.Generator().manual_seed(seed))
        member = ensemble.member(seed)
        assert all(torch.equal(a, b) for a, b in zip(alone.parameters(), member.parameters(), strict=True))
        assert repr(member) == repr(alone)


@pytest.mark.parametrize("kind", [NSR, MLP])
def test_it_answers_as_its_members_do(kind):
    ensemble = Ensemble(lambda generator: kind(2, generator=generator), range(4))
    expected = torch.stack([ensemble.member(seed)(X) for seed in range(4)])
    torch.testing.assert_close(ensemble(X), expected)
    own = torch.stack([X + seed for seed in range(4)])
    expected = torch.stack([ensemble.member(seed)(X + seed) for seed in range(4)])
    torch.testing.assert_close(ensemble.each(own), expected)


def test_to_another_dtype():
    ensemble = registers(range(2))
    double = ensemble.to(torch.float64)
    assert (ensemble.dtype, double.dtype) == (torch.float32, torch.float64)
    assert double(X.double()).dtype == torch.float64
    assert double.member(1).v1.dtype == torch.float64
    torch.testing.assert_close(double(X.double()).float(), ensemble(X))


class Counted(nn.Module):
    """A module with a buffer inside the state dict and one outside."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self.nau = NAU(2, generator=generator)
        self.register_buffer("shift", torch.rand(1, generator=generator))
        self.register_buffer("steps", torch.randint(9, (), generator=generator), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.nau(x) + self.shift * self.steps


def test_modules_with_buffers_are_stacked_too():
    ensemble = Ensemble(Counted, range(3))
    expected = torch.stack([ensemble.member(seed)(X) for seed in range(3)])
    torch.testing.assert_close(ensemble(X), expected)
    assert ensemble.to(torch.float64).buffers["steps"].dtype == torch.int64


def test_a_slice_of_the_members_is_an_ensemble():
    ensemble = registers(range(5))
    torch.testing.assert_close(ensemble[1:3](X), ensemble(X)[1:3])
    assert ensemble[1:3].seeds == (1, 2)


@pytest.mark.parametrize(
    ("modules", "text"),
    [
        (
            [NSR(2, scale=1.0), NSR(2, scale=10.0)],
            "members must be of one kind, got NSR(2, redundancy=10, scale=1.0) and NSR(2, redundancy=10, scale=10.0)",
        ),
        ([NSR(2), MLP(2)], "members must be of one kind, got NSR(2, redundancy=10, scale=1.0) and MLP(2, hidden=20)"),
    ],
)
def test_members_of_different_kinds_are_errors(modules, text):
    with pytest.raises(ValueError) as error:
        Ensemble.of(modules)
    assert str(error.value) == text


def test_it_is_built_without_touching_the_global_seed():
    before = torch.get_rng_state()
    registers(range(3))
    assert torch.equal(before, torch.get_rng_state())


def test_errors():
    with pytest.raises(ValueError, match="^seeds must name at least one seed, got none$"):
        registers([])
    with pytest.raises(ValueError, match=r"^seeds must differ from one another, got \[1, 1\]$"):
        registers([1, 1])
    with pytest.raises(ValueError, match=r"^seed must be one of \[0, 1\], got 7$"):
        registers(range(2)).member(7)
    with pytest.raises(ValueError, match="^x must have one entry for each of 2 members, got 3$"):
        registers(range(2)).each(X)


def test_repr_names_the_kind_and_the_number():
    assert repr(registers(range(7))) == "Ensemble of 7 x NSR(2, redundancy=10, scale=1.0)"
