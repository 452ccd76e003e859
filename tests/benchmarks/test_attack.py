import json
import random

import attack
import pytest
from attack_loaders import LOADERS, Loader
from attack_mutations import mutate

from nsr.errors import InputError


def loader_of(load) -> Loader:
    return Loader("test", 10, lambda: [b"good"], load, hostile=[b"bad"])


def fails_with(problem: BaseException):
    def load(_folder, _content):
        raise problem

    return load


@pytest.mark.parametrize(
    ("load", "kind"),
    [
        (lambda *_: None, "loaded"),
        (fails_with(InputError("one sentence")), "refused"),
        (fails_with(FileNotFoundError(2, "no such file", "x")), "refused"),
        (fails_with(InputError("x" * 2000)), "traceback"),
        (fails_with(KeyError("x")), "traceback"),
        (fails_with(OSError("without a name")), "traceback"),
        (fails_with(SystemExit(2)), "traceback"),
        (fails_with(MemoryError()), "over memory"),
    ],
)
def test_only_sentences_are_refusals(tmp_path, load, kind):
    assert attack._load(loader_of(load), tmp_path, b"")[0] == kind


def test_inputs_follow_from_the_seed_the_loader_and_the_number():
    loader = loader_of(lambda *_: None)
    assert [attack.content_of(loader, number, 0) for number in (0, 1)] == [b"good", b"bad"]
    made = [attack.content_of(loader, number, 0) for number in range(2, 40)]
    assert made == [attack.content_of(loader, number, 0) for number in range(2, 40)]
    assert len(set(made)) > 20


def test_trees_of_json_are_changed_inside():
    tree = b'{"a": [1, 2, {"b": "c"}], "d": null}'
    made = {mutate([tree], [], random.Random(number)) for number in range(200)}
    assert sum(text.startswith(b"{") and text.endswith(b"}") for text in made) > 80


def test_the_counts_name_what_was_found():
    tally = attack.Tally()
    for kind in ("loaded", "refused", "hang", "crash", "traceback"):
        tally.add(attack.Outcome("store", 0, kind))
    assert list(tally.lines()) == [
        "store               5  1 crash, 1 hang, 1 loaded, 1 refused, 1 traceback",
        "5 inputs: 2 tracebacks, 1 hangs over 10 s, 0 over 1,000 MB",
    ]
    assert [outcome.kind for outcome in tally.found] == ["hang", "crash", "traceback"]


def test_an_attack_has_at_least_30_000_inputs():
    assert len(attack.jobs_of(list(LOADERS), 1.0)) >= 30_000


def test_every_part_of_an_attack_has_inputs_of_most_loaders():
    jobs = attack.jobs_of(list(LOADERS), 1.0)
    assert jobs == attack.jobs_of(list(LOADERS), 1.0)
    assert {name for name, _ in jobs[:4000]} == set(LOADERS)


def test_an_interrupted_attack_is_recorded_and_fails(monkeypatch, tmp_path, capsys):
    def interrupted(jobs, *, on_outcome, **_):
        on_outcome(attack.Outcome(*jobs[0], "refused"))
        raise KeyboardInterrupt

    monkeypatch.setattr(attack, "attack", interrupted)
    monkeypatch.setattr("sys.argv", ["attack.py", "--share", "0.001", "--json", str(tmp_path / "a.jsonl")])
    with pytest.raises(SystemExit) as stop:
        attack.main()
    assert stop.value.code == 1
    record = json.loads((tmp_path / "a.jsonl").read_text())
    assert (record["inputs"], record["found"]) == (1, 0)
    assert record["planned"] > 16
    assert "interrupted after 1 of" in capsys.readouterr().out


@pytest.mark.outer
def test_a_slice_of_the_attack_finds_nothing():
    tally = attack.attack(attack.jobs_of(list(LOADERS), 0.01), seed=1)
    assert tally.found == []
    assert tally.total() > 350
    assert set(tally.counts) == set(LOADERS)
