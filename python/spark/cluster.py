"""A real cluster on this machine: a standalone master and two workers on loopback, each process ours to kill."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyspark

_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


class Cluster:
    """A master and workers; everything that was started ends with it."""

    def __init__(self, folder, n_workers=2, cores=1, memory="900m", java=""):
        self.folder, self.n_workers, self.cores, self.memory, self.java = Path(folder), n_workers, cores, memory, java
        self.processes, self.workers = [], []

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self._start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self._find("master", r"Starting Spark master at (spark://\S+)")
        for number in range(self.n_workers):
            self.add_worker(f"worker-{number}")
        return self

    def add_worker(self, name):
        work = self.folder / f"work-{name}"
        worker = self._start(
            name, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
            "-c", str(self.cores), "-m", self.memory, "-d", str(work), self.url,
        )
        self._find(name, r"(Successfully registered) with master")
        self.workers.append(worker)

    def __exit__(self, *_):
        for process in reversed(self.processes):
            for pid in [*_below(process.pid), process.pid]:
                _kill(pid)
            process.wait(timeout=30)

    def _start(self, name, *words):
        log = open(self.folder / f"{name}.log", "wb")
        environment = dict(
            os.environ, SPARK_NO_DAEMONIZE="1", PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1",
            SPARK_DAEMON_JAVA_OPTS=self.java,
        )
        process = subprocess.Popen([_CLASS, *words], stdout=log, stderr=subprocess.STDOUT, env=environment)
        self.processes.append(process)
        return process

    def _find(self, name, pattern, deadline=60):
        ends = time.monotonic() + deadline
        while time.monotonic() < ends:
            found = re.search(pattern, (self.folder / f"{name}.log").read_text(errors="replace"))
            if found:
                return found[1]
            time.sleep(0.1)
        raise TimeoutError(f"{name} printed nothing like {pattern!r} in {deadline} s")

    def below(self, worker, pattern):
        """The processes that a worker started, directly or not, whose command is like this."""
        return [pid for pid in _below(worker.pid) if re.search(pattern, _command(pid))]

    def kill(self, what):
        """Kills an executor, a Python worker, or a whole worker with all that it runs. Says which process."""
        worker = next(worker for worker in self.workers if worker.poll() is None)
        if what == "worker":
            victims = [worker.pid, *_below(worker.pid)]
        elif what == "executor":
            victims = self.below(worker, "CoarseGrainedExecutorBackend")
        else:
            victims = self.below(worker, "pyspark.daemon")[-1:]
        for pid in victims:
            _kill(pid)
        return victims

    def session(self, **settings):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(self.url).appName("rosenblatt")
        for name, value in {
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
            "spark.executor.memory": "600m", "spark.executor.cores": "1", "spark.sql.shuffle.partitions": "4",
            "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "1g",
            "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""), "spark.driver.extraJavaOptions": self.java,
            "spark.executor.extraJavaOptions": self.java, **settings,
        }.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        return spark


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _below(pid):
    """All processes that descend from this one."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(status.rsplit(")", 1)[1].split()[1]), []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
