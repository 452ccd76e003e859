"""A Slurm of one node on this machine, on loopback only, for tests: started and stopped with its own daemons.

with Slurm(folder) as slurm:
    subprocess.run(["sinfo"], env=slurm.environment)
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
PARTITION = "loopback"
CONFIG = """
ClusterName=loopback
SlurmctldHost=localhost
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={spool}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={spool}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=5
SchedulerParameters=sched_interval=1,sched_min_interval=100000
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName={partition} Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str | None:
    """Why it cannot be had here, or None."""
    missing = [name for name in PROGRAMS if _path(name) is None]
    if missing:
        return f"needs the packages slurm-wlm and munge ({', '.join(missing)} missing)"
    return None if os.getuid() == 0 else "the daemons of Slurm need root"


def _path(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


class Slurm:
    """Its daemons, from entering to leaving. ``environment`` is for the commands of Slurm."""

    def __init__(self, folder: Path, cpus: int = 2, patience: float = 60.0) -> None:
        self.folder, self.patience = folder.resolve(), patience
        self.processes: list[subprocess.Popen[bytes]] = []
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        (self.folder / "state").mkdir(parents=True, exist_ok=True)
        self.spool = Path(tempfile.mkdtemp(prefix="spool-"))  # it has sockets, whose paths must be short
        ports = [_free_port() for _ in range(2)]
        values: dict[str, Any] = {"folder": self.folder, "ports": ports, "cpus": cpus, "partition": PARTITION}
        values["spool"] = self.spool
        (self.folder / "slurm.conf").write_text(CONFIG.format(**values))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)

    def __enter__(self) -> "Slurm":
        folder = self.folder
        try:
            files = (f"--{name}-file={folder}/munge.{name}" for name in ("pid", "log", "seed", "key"))
            self._start("munged", "--foreground", "--force", f"--socket={self.spool}/munge.socket", *files)
            self._until(lambda: (self.spool / "munge.socket").exists(), "munged")
            self._start("slurmctld", "-D", "-c", "-f", f"{folder}/slurm.conf")
            self._start("slurmd", "-D", "-N", "localhost", "-f", f"{folder}/slurm.conf")
            self._until(lambda: "idle" in self.call("sinfo", "--noheader", "--format=%T"), "slurmd")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def call(self, program: str, *arguments: str) -> str:
        """What a command of Slurm prints."""
        done = subprocess.run(
            [program, *arguments], env=self.environment, capture_output=True, text=True, timeout=30, check=False
        )
        return done.stdout

    def jobs(self) -> list[str]:
        """The numbers of the jobs that wait or run."""
        return self.call("squeue", "--noheader", "--format=%A").split()

    def stop(self) -> None:
        """Cancel its jobs and end its daemons, the last one first."""
        if len(self.processes) == 3 and (jobs := self.jobs()):
            self.call("scancel", *jobs)
            end = time.monotonic() + 20
            while self.jobs() and time.monotonic() < end:
                time.sleep(0.2)
        for process in reversed(self.processes):
            end_process(process)
        self.processes.clear()
        shutil.rmtree(self.spool, ignore_errors=True)

    def _start(self, program: str, *arguments: str) -> None:
        with (self.folder / f"{program}.log").open("wb") as log:
            command = [str(_path(program)), *arguments]
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=self.environment))

    def _until(self, condition: Any, what: str) -> None:
        end = time.monotonic() + self.patience
        while not condition():
            ended = [process.args[0] for process in self.processes if process.poll() is not None]  # type: ignore[index]
            if ended or time.monotonic() > end:
                logs = "\n".join(path.read_text(errors="replace")[-1500:] for path in self.folder.glob("*.log"))
                raise RuntimeError(f"{ended or what} does not run:\n{logs}")
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process that was started here; kill it if it does not end within ten seconds."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
