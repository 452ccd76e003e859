"""Numbers that README, CHANGELOG and docs state outside of their generated blocks, and where each comes from.

A statement is a piece of a page as it stands there. Numbers in braces come from constants of the code, from a formula
or from the committed records, so that a page that drifts from them has the piece no more. The test that reads these
tables also looks for numbers that are in no statement.
"""

import inspect
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import attack
import engine_growth
import kills
import no_rule_tables
import numpy as np
import rule_tables
import torch
from digits_settings import HELD_OUT
from rule_lines import LINES

from nsr.cli.output import DONE, FAILED, INTERRUPTED, NO_RULE, WRONG
from nsr.data import all_pairs, pairs_around, small_digits
from nsr.learn import NSRClassifier, attempt, regressor
from nsr.learn.features import MOST_TEXTS
from nsr.learn.networks import ROUNDS, UNITS
from nsr.learn.objections import CONSTANTS_PER_ROW
from nsr.learn.pieces.choice import LIMITED
from nsr.learn.profile import chance, equations, find, report, statements
from nsr.learn.tables.table import SAMPLE
from nsr.nn import MLP, NSR
from nsr.nn.bits import status_bits
from nsr.nn.digits import CHANNELS, FIRST, HIDDEN, SECOND
from nsr.paper.experiments import EXPERIMENTS, digits, recurrent, shortest_paths
from nsr.paper.experiments.comparisons import TABLE_1, ComparisonCell
from nsr.paper.experiments.floats import LONG_SERIES, SERIES
from nsr.paper.experiments.piecewise import TABLE_2, PiecewiseCell
from nsr.paper.report import findings
from nsr.paper.sweep.plan import LONGEST
from nsr.program import parser
from nsr.program.emit.dialects import DIALECTS
from nsr.program.equivalence import Equivalence
from nsr.reading import gates
from nsr.reading.harden import SLACK
from nsr.reading.screen import DEPTH
from nsr.training import EXACT, PAPER

Statements = Mapping[str, tuple[str, ...]]

RECIPES = {name: experiment.recipes["exact"] for name, experiment in EXPERIMENTS.items()}
DIGITS = RECIPES["digits"]
MOST_EPOCHS = max(recipe.epochs for recipe in RECIPES.values())
SEEDS = {name: experiment.profiles["paper"].seeds for name, experiment in EXPERIMENTS.items()}
DEFAULTS = NSRClassifier().get_params()
LOW, HIGH = (int(end) for end in (all_pairs(">").x.min(), all_pairs(">").x.max()))
RANGE = f"[{LOW}, {HIGH}]"
PAIRS = len(all_pairs(">").y)
UNEQUAL = float((all_pairs("=").y == 0).double().mean())
FAR = inspect.signature(rule_tables.RuleTable.far).parameters
"""Fresh rows of a table of the battery beyond its range: how many, and how far; as many are within it."""
TEST_PAIRS, EQUAL_PAIRS = len(pairs_around("=", np.random.default_rng(0), power=2).y), 11
TRAINING_IMAGES = len(small_digits().train.labels)
FIGURES = Path(__file__).parents[1] / "docs" / "figures"
STOPPED = re.findall(r"epoch ([\d,]+)<", (FIGURES / "selection.svg").read_text())[0]
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def parameters(module: torch.nn.Module) -> int:
    """Number of parameters."""
    return sum(parameter.numel() for parameter in module.parameters())


def seeds_of_a_mean(mean: float) -> int:
    """How many of 100 seeds are perfect if the others answer "unequal" and the mean is this."""
    constant = (TEST_PAIRS - EQUAL_PAIRS) / TEST_PAIRS
    return round(100 * (mean - constant) / (1 - constant))


def equal_with_itself() -> float:
    """The share of the equal pairs of a batch in which an image is paired with itself; all digits as frequent."""
    own = digits.SIZE
    return own / (own + own * (own - 1) / 10)


SETTINGS: Statements = {
    "README.md": (
        f"trained on numbers in {RANGE}, right at 10^1000",
        f"as the paper does, {PAPER.epochs:,} epochs",
        f"is ours, at most {MOST_EPOCHS:,}",
        f"SQL for {WORDS[len(DIALECTS)]} databases",
    ),
    "docs/index.md": (f"trained on numbers in {RANGE}, right at 10^1000",),
    "CHANGELOG.md": (
        f"Limits that {WORDS[LIMITED]} rows or more show",
        f"SQL for {WORDS[len(DIALECTS)]} databases",
        f"second edition: {len(LINES)} lines of tables",
        f"during a run exit with {FAILED}",
        f"a second signal exits with {INTERRUPTED} at once",
        f"A second Ctrl-C exits with {INTERRUPTED} whenever",
        f"Ctrl-C exits with {INTERRUPTED} under Slurm",
        f"the number of networks that begin ({DEFAULTS['restarts']})",
        f"peak rate {DIGITS.learning_rate:g}, lambda from {DIGITS.first_scale:g} to {DIGITS.scale:g}",
        f"is trained {WORDS[RECIPES['piecewise'].baseline_factor]} times as long in Section 4.3 and "
        f"{WORDS[RECIPES['recurrent'].baseline_factor]} times in 4.5",
        f"some of fewer than {round(1 / CONSTANTS_PER_ROW)} rows",
    ),
    "docs/battery.md": (
        f"{rule_tables.ROWS[0]} to {rule_tables.ROWS[1]:,} rows, with {rule_tables.DISTRACTORS[0]} to "
        f"{rule_tables.DISTRACTORS[1]} irrelevant columns of scales from 10^-3 to 10^6",
        f"all {2 * FAR['rows'].default:,} fresh rows, half of them in a range "
        f"{FAR['magnitude'].default:,} times as wide",
        f"a fifth has {no_rule_tables.ROWS[0]} rows",
    ),
    "docs/cluster.md": (f"the exit code {WRONG}", f"at most {WORDS[round(LONGEST / 60)]} minutes by estimate"),
    "docs/engine.md": ("with {members} members, {rows} rows and {redundancy} units".format(**engine_growth.USUAL),),
    "docs/how.md": (
        f"after {STOPPED} epochs and after 20,000",
        "with 1 to {} units".format(max(cell.redundancy for cell in EXPERIMENTS["redundancy"].cells)),
        f"After {STOPPED} epochs the register is right on all rows",
        "delta 10^-6 to 10^6",
        f"a register has {WORDS[NSR(2).redundancy]} units by default",
        f"for {WORDS[len(SERIES)]} values of each",
    ),
    "docs/robustness.md": (
        f"limits of {attack.SECONDS:g} seconds of CPU and {attack.MEGABYTES / 1000:g} GB",
        f"exits with {FAILED} if there is a traceback",
        f"at random moments, at most {'half a second' if kills.WAIT == 0.5 else kills.WAIT} apart",
        f"the exit code is {INTERRUPTED}",
        f"also with {INTERRUPTED}.",
    ),
    "docs/fidelity.md": (
        f"| {parameters(NSR(2))}: 2 x 20 for the selections, 3 x 10 for the bits. "
        f"The MLP does have {parameters(MLP(2))}",
        f"| {status_bits(torch.tensor(1.0, dtype=torch.float64))[1]:.3f}, as the formula gives",
        f"{TEST_PAIRS} pairs, {EQUAL_PAIRS} of them equal",
        f"about {seeds_of_a_mean(TABLE_1[ComparisonCell('nsr', '=')]['10^13'])} and "
        f"{seeds_of_a_mean(TABLE_1[ComparisonCell('nsr', '!=')]['10^13'])} of 100",
        f"what a constant answer scores on {TEST_PAIRS - 10} pairs, of which 5 or 6 are true",
        f"is right on {TEST_PAIRS - EQUAL_PAIRS} of {TEST_PAIRS} pairs, the paper's on half",
        f"Adam at {EXACT.learning_rate:g}, at most {EXACT.epochs:,} epochs. Every {EXACT.check_every} epochs",
        f"after {WORDS[EXACT.patience]} consecutive checks",
        f"after the paper's {PAPER.epochs:,} epochs",
        f"by at most about {10**14 * 2 * 2**-53:.0%} of delta".replace("%", " %"),
        f"Adam at its defaults, {PAPER.epochs:,} epochs",
        f"pulled to -1, 0 and 1, by up to {EXPERIMENTS['piecewise'].recipes['paper'].sparsity:g} learning rates",
        f"Adam at {RECIPES['piecewise'].learning_rate:g}, {RECIPES['piecewise'].epochs:,} epochs (the MLP gate "
        f"{WORDS[RECIPES['piecewise'].baseline_factor]} times as many)",
        f"within {recurrent.TOLERANCE:g} of the target's size; within {recurrent.ABSOLUTE:g}",
        f"a distance of at most {recurrent.ABSOLUTE:g} everywhere",
        f"ours loses it in the map within {recurrent.ABSOLUTE:g}, while the map of "
        f"{100 * recurrent.TOLERANCE:g} percent",
        f"Adam at {RECIPES['recurrent'].learning_rate:g}, {RECIPES['recurrent'].epochs:,} epochs; the MLP "
        f"{WORDS[RECIPES['recurrent'].baseline_factor]} times as many",
        f"no list longer than {recurrent.LENGTHS[0]} and no number outside {RANGE}",
        f"{shortest_paths.GRAPHS} graphs, drawn anew for each seed",
        f"uniform from 1 to {shortest_paths.LARGEST}",
        f"nodes with weights to {shortest_paths.LARGEST}, weights with {shortest_paths.NODES} nodes",
        f"Nodes to 3^{shortest_paths.AXES['nodes'][-1] + 1}",
        f"the mean over {shortest_paths.TESTED} graphs",
        f"Adam at {RECIPES['shortest_paths'].learning_rate:g}, {RECIPES['shortest_paths'].epochs:,} epochs, and equal",
        f"pulled to integers in the second half ({RECIPES['shortest_paths'].sparsity:g})",
        f"then the {digits.SIZE**2:,} pairs are compared",
        f"{1 / digits.SIZE:.0%} of all pairs, but {equal_with_itself():.0%} of the equal ones".replace("%", " %"),
        f"Adam at its defaults, {digits.EPOCHS} epochs",
        f"all pairs of each {digits.SIZE} test images",
        f"up to {DIGITS.learning_rate:g} in the first quarter, "
        f"{DIGITS.learning_rate * DIGITS.comparator_rate:g} for the comparator",
        f"of which an epoch has {math.ceil(TRAINING_IMAGES / digits.SIZE)} batches, "
        f"{WORDS[round(DIGITS.small_rate / DIGITS.learning_rate)]} times that",
        f"lambda growing evenly from {DIGITS.first_scale:g} to {DIGITS.scale:g}, {DIGITS.epochs} epochs",
        f"({DIGITS.order_selection:g} is added to their logits)",
        f"lambda ends at {DIGITS.order_scale:g}",
        f"The rate of {DIGITS.learning_rate:g} is the best",
        f"a split of their {TRAINING_IMAGES:,} training images",
        "convolutions of {0}x{0} in steps of {1} with {3} channels and of {2}x{2} in steps of {2} with {4}, {5} hidden "
        "units".format(*FIRST[28], SECOND, *CHANNELS, HIDDEN),
        f"of MNIST {60_000 - HELD_OUT['MNIST']:,} to train and {HELD_OUT['MNIST']:,} to compare",
        f"fixed on {digits.LABELLED} labelled training images",
        f"to {math.tanh(DIGITS.order_scale):.3f}, at a distance of 1",
        f"learn from the {TRAINING_IMAGES:,} images",
        f"which {PAPER.epochs:,} epochs amplify",
        f"goes on falling to {TABLE_2[PiecewiseCell('mlp', 'f')]['3^13']:.2f}",
        f"delta from 10^{round(math.log10(LONG_SERIES[0]))} to 10^{round(math.log10(LONG_SERIES[-1]))}",
    ),
    "docs/results.md": (
        f"Accuracies by {findings.LOSS:g} or more, errors by a tenth or more",
        f"{WORDS[round(10 * findings.USABLE)]} of ten seeds are right on {findings.FITS:g} of them or more",
        f'always answers "unequal" is right on {UNEQUAL:.2f}',
        f"recorded training accuracy: {findings.LEARNED:g} of the test pairs",
    ),
    "docs/reproduce.md": (
        f"Adam with default settings, {PAPER.epochs:,} epochs (digits: {digits.EPOCHS})",
        f"learning rate {EXACT.learning_rate:g}, at most {MOST_EPOCHS:,} epochs (the MLP "
        f"{WORDS[RECIPES['piecewise'].baseline_factor]} or {WORDS[RECIPES['recurrent'].baseline_factor]} times as many",
        f"all seeds: {SEEDS['comparisons']}, digits and paths {SEEDS['digits']}",
    ),
    "docs/learn.md": (
        f"If {WORDS[LIMITED]} rows or more have one target",
        f"{1 - attempt.CHOOSE - attempt.JUDGE:.0%} to learn from, {attempt.CHOOSE:.0%} to choose by, and "
        f"{attempt.JUDGE:.0%} to judge by".replace("%", " %"),
        f"(for numbers {100 * (1 - regressor.CHOOSE - regressor.JUDGE):.0f}, {100 * regressor.CHOOSE:.0f} and "
        f"{100 * regressor.JUDGE:.0f} %)",
        f"{DEFAULTS['restarts']} networks (`--restarts`)",
        f"Each has {WORDS[UNITS]} units",
        f"up to four of the {WORDS[attempt.MATTERING]} columns",
        "After a few epochs the better " + {0.25: "quarter"}[ROUNDS[1][0]],
        f"Texts** of at most {MOST_TEXTS} different values",
        f"Texts with more than {MOST_TEXTS} different values",
        f"More than {SAMPLE:,} rows are sampled",
        f"exits with code {NO_RULE} and",
        f"for each proof, {Equivalence.timeout:g} by default",
        f"exits with {DONE} if the two are the same, with {FAILED} if they differ (as `diff` does), with {WRONG} "
        f"if the input is wrong, and with {NO_RULE} if neither",
        f"(allowed: {DEFAULTS['errors']:.0%})".replace("%", " %"),
        f"({DEFAULTS['time_limit']:g} by default) with the best rule",
        f"In fewer than {round(1 / CONSTANTS_PER_ROW)} rows",
        f"some of fewer than {round(1 / CONSTANTS_PER_ROW)} rows",
    ),
    "docs/profile.md": (
        f"more than {report.SHOWN} statements",
        f"at least {statements.THRESHOLD:g} nats",
        f"a sample of {chance.SHUFFLED_ROWS:,} rows",
        f"The first {find.MOST_COLUMNS} columns",
        f"at most {equations.MOST_FOR_FOUR} columns of numbers",
    ),
    "docs/programs.md": (
        f"at most {parser.CHARACTERS:,} characters, {parser.NESTING} levels of nesting, and numbers of at most "
        f"{parser.DIGITS:,} digits, with exponents from -{parser.EXPONENT} to {parser.EXPONENT}",
        f"({Equivalence.timeout:g} by default), `verdict.equal`",
        f"within {SLACK:g} of integers",
        f"from {LOW} to {HIGH}, and with constants",
        "on 2,000 random programs (`make programs`)",
        f"decides every row, at most {WORDS[DEPTH]},",
        f"at least one row in {round(1 / gates.WORTH)}",
    ),
    "docs/playground.md": (
        f"the same {PAIRS} pairs of integers from {LOW} to {HIGH}",
        f"all {len(SERIES) ** 2} combin",
    ),
}
"""What follows from a constant of the code or from a formula."""


def guesses_from(m: Any) -> int:
    """The first power of 10 from which the mean of our MLP on comparisons of order stays near one half."""
    shown = [m.one("comparisons", "paper", model="mlp", comparison=name) for name in (">", "<", ">=", "<=")]
    means = {power: fmean(summary.metrics[f"10^{power}"] for summary in shown) for power in range(2, 16)}
    return next(power for power in means if all(abs(means[k] - 0.5) < 0.02 for k in means if k >= power))


def reversed_from(m: Any) -> int:
    """The first power of 3 from which our NSR gate stays below our MLP gate for f."""
    nsr, mlp = (m.one("piecewise", "paper", model=model, function="f").metrics for model in ("nsr", "mlp"))
    return next(k for k in range(2, 34) if all(nsr[f"3^{n}"] < mlp[f"3^{n}"] for n in range(k, 34)))


def guess(m: Any) -> float:
    """What our MLP scores on comparisons of order at the largest numbers of Table 1."""
    names = (">", "<", ">=", "<=")
    return fmean(m.one("comparisons", "paper", model="mlp", comparison=name).metrics["10^13"] for name in names)


def earlier(m: Any) -> int:
    """By how many powers of 3 our NSR falls below 0.75 on f before the paper's does."""
    summary = m.one("piecewise", "paper", model="nsr", function="f")
    ours, paper = (
        next(power for power in range(2, 14) if means[f"3^{power}"] < 0.75)
        for means in (summary.metrics, summary.published)
    )
    return paper - ours


def keeps_more(m: Any) -> list[str]:
    """Where our MLP is more than 0.02 better than the paper's on comparisons of order; from 10^6 on it guesses."""
    found = [m.one("comparisons", "paper", model="mlp", comparison=name) for name in (">", "<", ">=", "<=")]
    gains = {
        f"10^{power}": fmean(each.metrics[f"10^{power}"] - each.published[f"10^{power}"] for each in found)
        for power in range(2, guesses_from(m))
    }
    return [name for name, gain in gains.items() if gain > 0.02]


def many_records(m: Any) -> str:
    """The size of the store of ``benchmarks/store.py``, in words."""
    millions = max(record["records"] for record in m.lines("store.jsonl")) / 10**6
    return "a million" if round(millions, 2) == 1 else f"{millions:.1f} million"


MEASURED: Mapping[str, tuple[Callable[[Any], str], ...]] = {
    "README.md": (lambda m: f"the NSR stays right from 10^2 to 10^15, the MLP guesses from 10^{guesses_from(m)} on",),
    "CHANGELOG.md": (lambda m: f"a store of {many_records(m)} records",),
    "docs/index.md": (
        lambda m: f"the NSR stays right from 10^2 to 10^15, the MLP guesses from 10^{guesses_from(m)} on",
    ),
    "docs/fidelity.md": (
        lambda m: f"From 3^{reversed_from(m)} on our NSR gate is below our MLP gate for f",
        lambda m: f"at {' and '.join(keeps_more(m))}, then guesses",
        lambda m: f"about {WORDS[earlier(m)]} power of three earlier",
        lambda m: f"Its guess is near {guess(m):.2f} and not {TABLE_1[ComparisonCell('mlp', '>')]['10^13']:.2f}",
    ),
}
"""What the committed records say."""

QUOTES: Statements = {
    "docs/fidelity.md": (
        '"81" for redundancy 10',
        '"from 0 to 1"',
        "about -0.17",
        "the figure uses 1/3",
        "n against n-5 ... n+5, and the ten pairs (n+i, n+i)",
        "the paper's means of 0.93 and 0.92",
        "lambda at least 10^3 / delta",
        "within three orders of magnitude",
        "up to 500,000 epochs",
        "the paper stops at 3^13",
        "with a peak at 2 units",
        "any number in [-10, 9]",
        "500 lists of length 5",
        "50 samples from the 5-interval around a number of the order of magnitude 3^i",
        "the paper's falls to about 0.86",
        "finds no minimum from 3^4 on",
        "a spanning tree of 10 nodes, further edges with probability 1/(2n)",
        '"both the maximum edge weight and the number of nodes with 3^i"',
        "errors close to 0",
        "two 3x3 convolutions of 32 and 64 channels, max-pooling, dropout and 128 hidden units",
        "all pairs of the 50 images of a batch",
        "The released code has Adadelta at 1.0",
        "the released code has 10 | 10 |",
        '"also batched in groups of 50 images"',
        '"at most 0.1 percent off"',
    ),
}
"""What the paper, or the code that its authors released, says."""

FACTS: Statements = {
    "CHANGELOG.md": (
        "The README has at most 120 lines",  # tests/test_readme.py
        "of the 8x8 set",
        "8x8 digits",
        "zoom to 10^15",
        "a picture to 10^15",
        "is read as 5 and not as 5.5",
        "rounded half up, no longer cut, but what is below 1 is never 1.000",  # tests/paper/test_numbers.py
        "constants stand half a step beside them",
        "integers beyond 2^53 meet decimals",  # the integers that float64 holds
        "dates before 1970",
    ),
    "docs/battery.md": ("the factor above 1",),
    "docs/cluster.md": (
        "a scheduler and four workers",
        "eight jobs of eight cores",  # 64 workers
        "and at most half of what workers stay",  # src/nsr/paper/sweep/walltime.py
        "after three times without any worker",  # MOST_EARLY of src/nsr/paper/sweep/slurm.py
        "(exp(rB) - 1) / r",
        "with 5 % lost in an hour and blocks of ten minutes that is less than one percent",
    ),
    "docs/deploy.md": ("no day is above 12", "as 1001,", "Four forms make sure"),
    "docs/engine.md": (
        "Sixteen rows at a time",  # src/nsr/native/epochs.c
        "after 300 epochs (a test of the outer ring)",  # tests/native/test_epochs.py
        "the least of five rounds that alternate",  # --rounds of benchmarks/engine.py
        "ten seeds instead of five for subsets of pairs",  # results/costs_before.json has the five
    ),
    "docs/fidelity.md": (
        "select the number 0",
        "all six rows are right",
        "the four inequalities",
        "all six comparisons",
        "In the second half",
        "ten classes",
        "bias 0 |",
        "| -1, as its formulas give",
        "zero bit at a difference of 1 |",
        'lambda below 0 "stretches"',
        "lambda below 1; a lambda of 0 or less",
        "exactly up to 2^62",
        "for bits in {0, 1}",
        "wrong from a difference of 2 on",  # tests/paper/test_paper.py
        "first hidden bias to -50 fixes it",
        "as 10^k |",
        "[10^k, 10^(k+1))",
        "| 10^-3 / delta",
        "10^2 to 10^13",
        "lambda = 1 / (smallest gap",
        "x5 + 4",
        "y A(x) + (1 - y) B(x)",
        "kept in [-1, 1]",
        "weights of 0 then",
        'order of magnitude" 3^k',
        "[3^k, 3^(k+1))",
        "on to 3^33; from 2^53 on",
        "at the bounds -1 and 1)",
        "for abs by 3^5, as the paper's does",
        "3^2 to 3^13 for f",
        "for a target of 0",
        "where the target is 0",
        "beyond 3^8 nothing: numbers at most 10 apart are all within 0.1 percent",  # 10 / 3^9 < 0.001
        "right beyond 3^8.",
        "| 50 for each seed, length and magnitude",
        "at most 5 from it",
        "at length 50 as at length 5",
        "one list of 100,000 numbers and on lists of numbers of 100 digits",
        "makes 0 a little more than 0",
        "8x8 pixels",
        "the first is 3x3 in steps of 1",
        "nine of ten pairs are unequal",
        "the integers from 0 to 9",
        "the digits 0 to 4",
        "at most 3 apart",
    ),
    "docs/how.md": (
        "1 - 2 tanh(lambda d)^2 and run from -1 to 1",
        "an answer that is right at a difference of 5 is right at 10^13",
        "All six comparisons follow",
        "off by 0.001 is harmless among numbers up to 10, and not at 10^13",
        "never to 0 and 1",
        "runs at 10^1000",
        "lambda 1/3, 1 and 3",
        "With lambda 1/3, a difference of 1",
        "about 1 / delta",
        "lambda = 1 / delta",
    ),
    "docs/learn.md": (
        "a > 1.1 b",
        "up to about ten comparisons",
        "the constant stands half a step beside them",
        "within half a step of a sum",
        "2.9 and 2.6 differ by exactly 0.3",
        "namely 15.",
        "among 100,000 numbers",
        "2024-12-31, 31.12.2024, 2024/12/31, 31-Dec-2024, 20241231, 12/31/2024 or 31/12/2024",
        "no day is above 12",
        "a weight of 1 between 0.99 and 1.01",
        "1.0825\\*price, rounded to multiples of 0.01",
        "Of 5 % more and 5 % less",
        "With rows 0.1 below it and 0.3 above",
        "the header is row 1 (row 31 is",
        "the first row is row 1",
        "in sorted order, from 0:",
        "integers beyond 2^53 meet decimals",
        "or multiples of 0.1 where all cells had at most one decimal",
        "more than six places",
        "for all multiples of 0.1",
    ),
    "docs/playground.md": (
        "10^1, 10^2 ... 10^15",
        "one of the six comparisons",
        "1,000 random models within 1e-12, the weights after 200 epochs within 1e-9, and the text and the answers "
        "of 600 random programs",  # tests/playground
    ),
    "docs/profile.md": (
        "In 34 of the 400 rows",
        "up to four columns with weights 1 and -1",
        "Sums of four columns",
        "or in percent",
    ),
    "docs/programs.md": (
        "as right at 10^13 as at 3",
        "5000 between 4730 and 5210",
        "rounded to -1, 0 or 1",
        "0.1 is exactly 1/10",
        "since the start of 1970",
        "2^53 and its neighbours, and 10^300",
        "a formula is 1 or 0 in a",
        "integers up to 2^53",
    ),
    "docs/read.md": ("contradicts up to 5 % of the rows",),
    "docs/robustness.md": ("beyond 64 bits",),
    "docs/start.md": (
        "up to 2^53 in float64",
        "exact up to 2^62",
        "near 10^15",
        "that two rules are the same",
    ),
    "docs/train.md": (
        "about 1 / (smallest",
        "right at 10^6",
        "differ by 0.01, as prices do, lambda has to be about 100",
        "ten hardly ever do",
    ),
}
"""Notation, limits of formats, examples, and what a test named beside it or a reader can verify."""
