import pytest

from nsr.errors import InputError
from nsr.paper.sweep.cluster_config import ClusterConfig, read_config

SLURM = """
[cluster]
executor = "slurm"
workers = 64
queue = "cpu"
walltime = "04:00:00"
cores = 8
directives = ["--exclude=node7"]
silence = 30
[cluster.options]
log_directory = "logs"
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_without_a_file_everything_is_local():
    assert read_config() == ClusterConfig() == ClusterConfig(executor="local")


def test_the_file_of_the_folder_is_found_and_options_count_more(tmp_path):
    (tmp_path / "nsr.toml").write_text(SLURM)
    config = read_config(workers=None, queue="long", directives=())
    assert (config.executor, config.workers, config.queue, config.cores) == ("slurm", 64, "long", 8)
    assert (config.directives, config.silence, config.options) == (("--exclude=node7",), 30, {"log_directory": "logs"})


def test_another_file_can_be_named(tmp_path):
    (tmp_path / "nsr.toml").write_text(SLURM)
    (tmp_path / "other.toml").write_text("[cluster]\nworkers = 3")
    assert read_config(tmp_path / "other.toml") == ClusterConfig(workers=3)


def test_a_scheduler_means_dask_and_another_executor_means_no_scheduler(tmp_path):
    assert read_config(scheduler="tcp://a:1").executor == "dask"
    (tmp_path / "nsr.toml").write_text('[cluster]\nexecutor = "dask"\nscheduler = "tcp://a:1"')
    assert read_config().scheduler == "tcp://a:1"
    assert read_config(executor="local").scheduler is None
    with pytest.raises(InputError, match=r"^a scheduler is for --executor dask, not for local$"):
        read_config(executor="local", scheduler="tcp://a:1")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[cluster", "is not TOML"),
        ("cluster = 3", r"^cluster in nsr.toml must be a table, as in \[cluster\]$"),
        ("[clutser]\nqueue = 'a'", r"^nsr.toml has no table \[cluster\], in which .* stand; it has 'clutser'$"),
        ("executor = 'dask'", r"^nsr.toml has no table \[cluster\], in which .* stand; it has 'executor'$"),
        ("[cluster]\nquue = 'a'", "unknown field .* 'quue': .*did you mean 'queue'"),
        ("[cluster]\nworkers = 'two'", "^workers = 'two' in nsr.toml is not a whole number$"),
        ("[cluster]\nworkers = true", "^workers = True in nsr.toml is not a whole number$"),
        ("[cluster]\nworkers = 2.5", "^workers = 2.5 in nsr.toml is not a whole number$"),
        ("[cluster]\ncores = 2.5", "^cores = 2.5 in nsr.toml is not a whole number$"),
        ("[cluster]\nworkers = 2\n[clutser.options]\nx = 1", r"^nsr.toml has 'clutser' beside the table \[cluster\], "),
        ("[cluster]\ndashboard = 'abc'", "^dashboard 'abc' is not an address and a port up to 65535: write it as in"),
        ("[cluster]\ndashboard = '127.0.0.1:99999999'", "^dashboard '127.0.0.1:99999999' is not an address and a port"),
        ("[cluster]\ndashboard = '127.0.0.1:65536'", "^dashboard '127.0.0.1:65536' is not an address and a port"),
        ("[cluster]\nqueue = 3", "^queue = 3 in nsr.toml is not a text$"),
        ("[cluster]\ndirectives = '--x'", "^directives = '--x' in nsr.toml is not a list of texts$"),
        ("[cluster]\noptions = 3", "^options = 3 in nsr.toml is not a table$"),
        ("[cluster]\ncores = 0", "^cores must be at least 1, got 0$"),
        ("[cluster]\nhang = nan", "^hang must be more than 0 seconds, got nan$"),
        (f"[cluster]\nworkers = {'9' * 1900}", "^workers must be at most 100,000, got 9{200}...$"),
        (f"[cluster]\nworkers = 0x{'f' * 1900}", "^workers must be at most 100,000, got [0-9]{200}...$"),
        (f"x = {'[' * 1500}", "^nsr.toml is not TOML: .*recursion"),
        ("x = " + "[\n" * 3000, "^nsr.toml is not TOML: .*recursion"),
        (f"[cluster]\nworkers = '{'9' * 1500}'", "^workers = '9{199}... in nsr.toml is not a whole number$"),
        (f"[cluster]\n{'q' * 1500} = 1", "^unknown field .* 'q{199}...: choose from executor, "),
        ("x." * 50_000 + "x = 1", "^nsr.toml is not TOML: it has more than 100,000 characters$"),
        ("x." * 2000 + "x = 1", "^nsr.toml is not TOML: a line has more than 2,000 characters$"),
        ("[cluster]\nsilence = 'long'", "^silence = 'long' in nsr.toml is not a number$"),
        (f"[cluster]\n#{'x' * 2000}", "^nsr.toml is not TOML: a line has more than 2,000 characters$"),
        ("[cluster]\n" + "#\n" * 49_995 + " ", "^nsr.toml is not TOML: it has more than 100,000 characters$"),
        ("[cluster]\nworkers = 100_001", "^workers must be at most 100,000, got 100001$"),
        ("[cluster]\nhang = 0", "^hang must be more than 0 seconds, got 0$"),
    ],
)
def test_what_is_wrong_in_a_file_is_a_sentence(tmp_path, content, text):
    (tmp_path / "nsr.toml").write_text(content)
    with pytest.raises(InputError, match=text):
        read_config()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"[cluster]\n#{'x' * 1999}", ClusterConfig()),
        ("[cluster]\n" + "#\n" * 49_995, ClusterConfig()),
        ("[cluster]\nworkers = 100_000\ncores = 100_000", ClusterConfig(workers=100_000, cores=100_000)),
        ("[cluster]\nsilence = 0.5\nhang = 1", ClusterConfig(silence=0.5, hang=1)),
        ("", ClusterConfig()),
        ("[cluster]\ndashboard = ':65535'", ClusterConfig(dashboard=":65535")),
    ],
)
def test_what_is_just_within_the_limits_is_read(tmp_path, content, expected):
    assert len(content) <= 100_000
    (tmp_path / "nsr.toml").write_text(content)
    assert read_config() == expected


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"queue": "cpu"}, "--queue is for --executor slurm, not for local"),
        ({"executor": "dask", "walltime": "04:00:00"}, "--walltime is for --executor slurm, not for dask"),
        ({"executor": "a:b", "directives": ("--x",)}, "--directive is for --executor slurm, not for a:b"),
        ({"scheduler": "tcp://a:1", "cores": 2}, "--cores is for --executor slurm, not for dask"),
    ],
)
def test_options_of_slurm_are_refused_elsewhere(options, text):
    with pytest.raises(InputError, match=f"^{text}$"):
        read_config(**options)


def test_the_file_of_a_slurm_serves_other_executors_too(tmp_path):
    (tmp_path / "nsr.toml").write_text(SLURM)
    assert read_config(executor="local").executor == "local"
    assert read_config(queue="long").queue == "long"


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"^cannot read the cluster file nowhere.toml: No such file or directory$"):
        read_config(tmp_path.joinpath("nowhere.toml").relative_to(tmp_path))
