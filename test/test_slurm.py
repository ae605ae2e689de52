"""Campaigns under real daemons of Slurm on this machine: srun, arrays, runs that are handed out, and a job that is cancelled. The
daemons are of this test alone: their own folder, ports and key."""
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from test_bench import QUICK, bench, contents, slope
from test_claim import arguments, merged
from test_cli import PROGRAM, here, run
from test_shards import nothing_has_started_us

PROGRAMS = ["munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel"]
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=10
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """Starts the daemons, and ends them by their numbers."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if absent:
        pytest.skip(f"no {', '.join(absent)} (tools/setup test)")
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "key").write_bytes(os.urandom(1024))
    (folder / "key").chmod(0o600)
    host = socket.gethostname().split(".")[0]
    (folder / "slurm.conf").write_text(CONFIGURATION.format(
        host=host, ports=free_ports(2), folder=folder, user=pwd.getpwuid(os.geteuid()).pw_name))
    environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(folder / "slurm.conf")}
    daemons = []

    def start(*command):
        log = open(folder / f"{command[0]}.log", "w")
        daemons.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder))

    def works(*command):
        return subprocess.run(command, env=environment, capture_output=True, timeout=30).returncode == 0

    def logs():
        return "\n".join(f"{path.name}: {path.read_text()[-500:]}" for path in folder.glob("*.log"))

    try:
        start("munged", "--foreground", "--force", f"--key-file={folder}/key", f"--socket={folder}/munge.socket",
              f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.own.log", f"--seed-file={folder}/seed")
        until = time.monotonic() + 30
        while not (folder / "munge.socket").exists() and time.monotonic() < until:
            time.sleep(0.05)
        start("slurmctld", "-D")
        start("slurmd", "-D")
        while not works("srun", "--immediate=2", "-n", "1", "true"):
            if time.monotonic() > until or any(daemon.poll() is not None for daemon in daemons):
                pytest.skip(f"Slurm does not start here: {logs()}")
            time.sleep(0.2)
        yield environment
    finally:
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def bench_command(arguments, *more):
    return [PROGRAM, "bench", *map(str, arguments), *QUICK, "--shard", "auto", "-o", "runs/%s.db", *more]


def test_ranks_of_srun_and_jobs_of_an_array_make_the_whole(slurm, arguments):
    bench(*arguments, "-o", "whole.db")
    done = subprocess.run(["srun", "-n", "3", "--overcommit", *bench_command(arguments)], env=slurm, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in Path("runs").iterdir()) == [f"{i}-of-3.db" for i in (1, 2, 3)]
    assert merged() == contents("whole.db")

    shutil.rmtree("runs")
    Path("runs").mkdir()
    Path("job.sh").write_text(f"#!/bin/sh\nexec {' '.join(bench_command(arguments))}\n")
    done = subprocess.run(["sbatch", "--wait", "--array=0-6:3", "-o", "job-%a.out", "job.sh"], env=slurm, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr + "".join(path.read_text() for path in Path().glob("job-*.out"))
    assert sorted(path.name for path in Path("runs").iterdir()) == [f"{i}-of-3.db" for i in (1, 2, 3)]
    assert merged() == contents("whole.db")


def test_a_rank_of_srun_that_is_killed_costs_its_run_only(slurm, arguments):
    bench(*arguments, "-o", "whole.db")
    Path("armed").touch()
    command = ["srun", "-n", "3", "--overcommit", "--kill-on-bad-exit=0", *bench_command(arguments, "--claim")]
    done = subprocess.run(command, env=slurm, capture_output=True, text=True, timeout=90)
    assert done.returncode != 0 and not Path("armed").exists()
    missing = run("status", *map(str, Path("runs").glob("*.db")), code=None).returncode
    if missing:  # it was the first rank, which hands out the runs
        assert subprocess.run(command, env=slurm, timeout=90).returncode == 0
    assert merged() == contents("whole.db")


def has_runs(lock):
    """The fourth word counts them; a lock that was made just now has none yet."""
    words = lock.read_text().split()
    return len(words) > 3 and int(words[3]) > 0


def test_a_job_that_is_cancelled_brings_its_ledgers_and_resumes(slurm, arguments):
    bench(*arguments, "-o", "whole.db")
    Path("disk").mkdir()
    Path("wait").touch()
    command = ["srun", "-n", "2", "--overcommit", "--job-name", "stopped", *bench_command(arguments, "--scratch", "disk")]
    job = subprocess.Popen(command, env=slurm, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 40
    while sum(has_runs(path) for path in Path("disk").glob("*.lock")) < 2:
        assert time.monotonic() < until and job.poll() is None
        time.sleep(0.05)
    subprocess.run(["scancel", "--name", "stopped"], env=slurm, check=True, timeout=30)
    said = job.communicate(timeout=60)[1]
    assert job.returncode != 0 and "interrupted" in said and not list(Path("disk").iterdir())
    assert sorted(path.name for path in Path("runs").iterdir()) == ["1-of-2.db", "2-of-2.db"]
    Path("wait").unlink()
    assert subprocess.run(command, env=slurm, stdout=subprocess.DEVNULL, timeout=60).returncode == 0
    assert merged() == contents("whole.db")
