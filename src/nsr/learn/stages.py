"""What proposes comparisons, one stage after the other, as long as no rule explains the rows.

A screen of single columns and differences of two; networks that weigh columns; networks that weigh logarithms, whose
sums are products; a screen of sums of the columns that networks weigh most; networks of these columns alone.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from nsr.learn.attempt import Attempt
from nsr.learn.candidates import candidate_sums, evenly_spaced, short_sums
from nsr.learn.chains import grown
from nsr.learn.interactions import Interactions
from nsr.learn.lookups import read_lookup
from nsr.learn.networks import Inputs, train_networks
from nsr.learn.proposals import propose
from nsr.learn.ratios import Multiple, best_multiples
from nsr.learn.rules import Reader, Rule
from nsr.learn.steps import steps_along_one_sum
from nsr.learn.votes import read_votes, voting_atoms
from nsr.reading.atoms import Atom, Weights
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import Screen

GROWN_ON = 1_000
"""Chains are grown on this many rows at most."""
CHAINS = 4
"""How many first comparisons the screen tries, and how many pairs of them."""
GROUPS = 2
"""How many groups of comparisons that say something together it tries."""
MULTIPLES = 2
"""How many multiples of columns it tries by themselves."""
FEW_MATTERING = 6
"""How many of the columns that matter are screened where there are more than two classes."""
READ = 8
"""How many networks are read."""
SPARSITIES = (4e-3, 2e-2)
"""Penalties on the weights of networks, in the order in which they are tried."""

Stage = Callable[[Attempt], None]


def run_stages(attempt: Attempt, wanted: Sequence[str]) -> None:
    """Try one stage after the other until a rule explains the rows."""
    for share, stage in _stages(wanted):
        if attempt.finished() and not (stage is from_products and attempt.could_be_product()):
            break
        before = attempt.best().expression if attempt.rules else None
        stage(attempt)
        attempt.withstood = before if attempt.networks and attempt.best().expression == before else None
        attempt.settings.on_progress(share)
    attempt.cut_short = attempt.settings.out_of_time


def _stages(wanted: Sequence[str]) -> Iterator[tuple[float, Stage]]:
    """What to try, with the share of the search that is done after it."""
    if "screen" in wanted:
        yield 0.1, from_screen
    if "training" in wanted:
        yield 0.3, partial(from_training, sparsity=SPARSITIES[0])
    if "products" in wanted:
        yield 0.5, from_products
    if "training" in wanted:
        yield 0.6, from_narrowed_screen
        yield 0.8, partial(from_training, sparsity=SPARSITIES[1])
        yield 0.9, from_narrowed_screen
        yield 1.0, partial(from_training, sparsity=SPARSITIES[0], narrowed=True)


def from_screen(attempt: Attempt) -> None:
    """Comparisons of single columns and of two, chosen greedily."""
    attempt.add(())
    _add_chains(attempt, _screen(attempt.learn), "screen")


def from_narrowed_screen(attempt: Attempt) -> None:
    """Sums of up to four columns with weights 1 and -1, of the columns that matter to the networks."""
    columns = attempt.columns_that_matter()
    few = columns if attempt.learn.n_classes == 2 else columns[:FEW_MATTERING]
    sums = list(short_sums(attempt.learn.columns, few))
    if sums:
        _add_chains(attempt, _screen(attempt.learn, sums), "columns")


def from_training(attempt: Attempt, *, sparsity: float, narrowed: bool = False) -> None:
    """Comparisons of sums that networks learn, from all columns or from those that matter to earlier networks."""
    inputs = Inputs.of(attempt.learn)
    _read_networks(attempt, inputs.only(attempt.columns_that_matter()) if narrowed else inputs, sparsity, "training")


def from_products(attempt: Attempt) -> None:
    """Comparisons of products that networks of logarithms learn."""
    inputs = Inputs.of(attempt.learn, logarithms=True)
    if len(inputs.names) > 1:
        _read_networks(attempt, inputs, SPARSITIES[0], "products")


def _screen(rows: LabelledRows, sums: Sequence[Weights] | None = None) -> Screen:
    """A screen of some of the rows, by sums of columns: by default single columns and differences of two."""
    some = rows.subset(evenly_spaced(rows, GROWN_ON))
    return Screen(some, candidate_sums(some) if sums is None else sums)


def _add_chains(attempt: Attempt, screen: Screen, origin: str) -> None:
    """Chains of comparisons, grown from none, from the best ones, and from pairs that matter together."""
    if (lookup := read_lookup(attempt.reader, origin)) is not None:
        attempt.add_read(lookup)
        if attempt.finished():
            return
    if (steps := steps_along_one_sum(screen)) is not None:
        attempt.add(steps, origin=origin)
        if attempt.finished():
            return
    settings = attempt.settings
    for start in _starts(screen):
        attempt.add(grown(screen, attempt.reader, start, settings.deadline), origin=origin)
        if attempt.rules[-1].wrong == 0 or settings.out_of_time:
            break
    for atoms in voting_atoms(screen):
        if (votes := read_votes(attempt.reader, atoms, origin)) is not None:
            attempt.add_read(votes)
    if attempt.best().wrong == 0 and attempt.finished():
        return
    _add_multiples(attempt, screen, origin)
    _extend(attempt, screen.sums)


def _starts(screen: Screen) -> Iterator[list[Atom]]:
    """What chains begin with: nothing, one comparison, and those that say something together."""
    yield []
    yield from ([atom] for atom in screen.first_atoms(CHAINS))
    together = Interactions(screen)
    yield from together.pairs()[:CHAINS]
    yield from together.groups()[:GROUPS]


def _add_multiples(attempt: Attempt, screen: Screen, origin: str) -> None:
    """Multiples of columns: by themselves, and in the place of the stairs that rules make along them."""
    pairs = [(one, two) for (one, _), (two, _) in (weights for weights in screen.sums if len(weights) == 2)]
    alone = best_multiples(screen.rows, pairs, count=MULTIPLES)
    starts: list[tuple[list[Atom], Multiple]] = [([], each) for each in alone]
    for rule in attempt.best_rules():
        for pair in _stairs(rule):
            others = [atom for atom in rule.atoms if not set(atom.columns) <= set(pair)]
            starts += [(others, each) for each in best_multiples(screen.rows, [pair], others)]
    for others, multiple in starts:
        if attempt.settings.out_of_time:
            return
        atoms = [*others, multiple.atom]
        atoms = atoms if others else grown(screen, attempt.reader, atoms, attempt.settings.deadline)
        attempt.add(atoms, {multiple.atom.weights: multiple.sums}, origin=origin)


def _stairs(rule: Rule) -> list[tuple[str, str]]:
    """Pairs of columns that a rule compares in two ways or more: with each other and with constants."""
    pairs = {atom.columns for atom in rule.atoms if len(atom.columns) == 2}
    alone = sorted({atom.columns[0] for atom in rule.atoms if len(atom.columns) == 1})
    pairs |= set(itertools.combinations(alone, 2))
    within = {pair: sum(set(atom.columns) <= set(pair) for atom in rule.atoms) for pair in pairs}
    return sorted((one, two) for (one, two), count in within.items() if count > 1)


def _extend(attempt: Attempt, sums: Sequence[Weights]) -> None:
    """Add comparisons to the best rules where rows contradict them: few do, so the rows to choose by count too."""
    reader, deadline = attempt.reader_of(attempt.seen), attempt.settings.deadline
    screen = _screen(attempt.seen, sums)
    best = [rule for rule in attempt.best_rules() if rule.wrong and rule.comparisons]
    attempt.rules += [extended(screen, reader, rule, deadline) for rule in best]


def extended(screen: Screen, reader: Reader, rule: Rule, deadline: float) -> Rule:
    """A rule with further comparisons where they explain rows that contradict it."""
    atoms = grown(screen, reader, list(rule.atoms), deadline)
    return rule if set(atoms) == set(rule.atoms) else reader.read(atoms, origin=rule.origin)


def extended_by_all(rows: LabelledRows, reader: Reader, rule: Rule, deadline: float) -> Rule:
    """The same with comparisons of single columns and of two, of these rows."""
    return extended(_screen(rows, candidate_sums(rows)), reader, rule, deadline)


def _read_networks(attempt: Attempt, inputs: Inputs, sparsity: float, origin: str) -> None:
    """Train networks, and read rules from the best of them."""
    if not inputs.names:
        return
    settings = attempt.settings
    networks = train_networks(
        attempt.learn,
        inputs,
        settings.restarts,
        settings.rng,
        choose=attempt.choose,
        sparsity=sparsity,
        deadline=settings.deadline,
    )
    for network in filter(attempt.better_than_chance, networks[:READ]):
        proposal = propose(network, attempt.learn)
        if proposal.products:
            attempt.add_products(proposal.products)
        attempt.add(proposal.atoms, proposal.alternatives, origin=origin)
        if settings.out_of_time or (attempt.rules[-1].wrong == 0 and attempt.finished()):
            break
    attempt.networks += networks
    if not attempt.finished():
        _extend(attempt, candidate_sums(attempt.learn))
