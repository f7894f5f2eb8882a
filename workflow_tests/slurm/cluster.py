"""A SLURM of one node on this machine: two pretended GPUs, no systemd, no control groups, no accounting. As root.

Programs of SLURM look for their configuration in /etc/slurm. Each is started where that is a folder of ours, in a mount
namespace of its own, so that nothing on the machine changes and several clusters can be there at a time.
"""

import contextlib
import os
import shutil
import socket
import subprocess
from pathlib import Path

from waiting import wait_until

ETC = Path("/etc/slurm")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel", "unshare")

CONFIGURATION = """
ClusterName=pretended
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/node
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MinJobAge=600
KillWait=5
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=64000 Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
#: Any two devices will do: SLURM counts them, and says by CUDA_VISIBLE_DEVICES which one a job has.
GPUS = "Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n"


def why_not() -> str | None:
    """Why there can be no cluster here; None if there can."""
    absent = [name for name in PROGRAMS if not shutil.which(name)]
    if absent:
        return f"no {absent[0]}: apt-get install -y --no-install-recommends slurm-wlm munge"
    if os.geteuid() != 0:
        return "not root, which the daemons of SLURM want to be"
    tried = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return "mount namespaces are not allowed here" if tried.returncode or not ETC.is_dir() else None


class Cluster:
    """A cluster with its state in a folder of its own; up within `with`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> "Cluster":
        for name in ("controller", "node"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        host, ports = socket.gethostname().split(".")[0], free_ports(2)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, folder=self.folder, ports=ports))
        (self.folder / "gres.conf").write_text(GPUS)
        self._start_munge()
        self.run("slurmctld", "-c")
        self.run("slurmd", "-N", host)
        log = (self.folder / "slurmctld.log").read_text
        wait_until(lambda: self.run("sinfo", "--noheader", "--format=%T").strip() == "idle", log)
        return self

    def __exit__(self, *_: object) -> None:
        self.run("scancel", "--user=root")
        for name in ("slurmd", "slurmctld", "munged"):
            pid = self.folder / f"{name}.pid"
            if pid.exists():
                subprocess.run(["kill", pid.read_text().strip()], check=False)

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        files = {"key": "munge.key", "pid": "munged.pid", "log": "munged.log", "seed": "munge.seed"}
        words = [f"--{option}-file={self.folder / name}" for option, name in files.items()]
        words.append(f"--socket={self.folder / 'munge.socket'}")
        subprocess.run(["munged", "--force", *words], check=True, capture_output=True)

    def command(self, *words: str) -> list[str]:
        """The words of a command that finds this cluster."""
        there = 'mount --bind "$1" "$2" && shift 2 && unset SLURM_CONF && exec "$@"'
        return ["unshare", "-m", "bash", "-c", there, "_", str(self.folder), str(ETC), *words]

    def run(self, *words: str) -> str:
        """Run a command that finds this cluster; what it prints. It must succeed."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]
