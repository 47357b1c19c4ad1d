"""Make the course's Python environment in `.venv`, or find that it is there already.

    python3 setup_environment.py [dsl] [libraries]

Uses the standard library alone and imports nothing of the package, so that any
Python 3 can run it far enough to say what is wrong. uv installs what the lock names;
what is said here is what uv cannot say. `.venv/coursekit-setup.json` is removed first
and written last: without it, a set-up was interrupted and is made again.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

LOWEST, HIGHEST = (3, 11), (3, 13)
ROOT = os.path.dirname(os.path.abspath(__file__))
CPU_TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
LOWEST_DRIVER = 580
LOCK = "requirements.lock"
STAMP = "coursekit-setup.json"
UV = "uv==0.13.9"
EXTRAS = {"cpu": "test,torch", "gpu": "test,gpu"}
GIGABYTES = {"cpu": 4, "gpu": 12}
TEMPORARY_GIGABYTES = {"cpu": 1, "gpu": 4}
# What EXTRAS=... adds: names of pyproject.toml's extras for each kind. PyTorch's CUDA
# build brings Triton and the libraries itself, in versions of its own.
MORE = {
    "dsl": {"cpu": ["dsl"], "gpu": ["tiles"]},
    "libraries": {"cpu": ["libraries"], "gpu": []},
    "cudnn": {"cpu": ["cudnn"], "gpu": []},
}
MORE_GIGABYTES = {"dsl": 2, "libraries": 2, "cudnn": 1}
# Without what they ask for. CUTLASS: a cuda-python that overwrites parts of
# cuda-bindings. cuDNN's graphs from Python: compilers that nothing here uses.
ALONE = {
    "libraries": ["nvidia-cutlass==4.2.0.0"],
    "cudnn": ["nvidia-cudnn-frontend==1.32.0"],
}
AGAIN = "Then run the same command again."

# What pip's log says, the cause, the cure. The first match wins.
FAILURES = (
    (
        r"No space left on device|Disk quota exceeded|not enough space",
        "the disk is full",
        "Free some space (`df -h .` and `df -h /tmp` show how much there is; "
        "`pip cache purge` frees pip's downloads).",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerificationError",
        "the package index's certificate was not accepted",
        "Behind a company proxy, give pip its certificate: "
        "`pip config set global.cert FILE`.",
    ),
    (
        r"NewConnectionError|NameResolutionError|name resolution|ProxyError|"
        r"Network is unreachable|ConnectTimeout|ReadTimeout|Read timed out|"
        r"Max retries exceeded|Connection refused|Connection reset",
        "the package index cannot be reached",
        "Check the network. Behind a proxy set HTTPS_PROXY; for a mirror use "
        "`pip config set global.index-url URL`.",
    ),
    (
        r"Permission denied|Read-only file system|Operation not permitted",
        "a file or folder may not be written",
        "Give yourself the folder (`sudo chown -R $USER .`), or clone the course "
        "into your home folder.",
    ),
    (
        r"DO NOT MATCH THE HASHES|IncompleteRead|BadZipFile|zipfile.*invalid",
        "a download arrived damaged",
        "Empty pip's cache with `pip cache purge`.",
    ),
    (
        r"No matching distribution found for (\S+)|ResolutionImpossible",
        "a package has no version that fits this Python and this system",
        "The course supports Linux on x86-64 (on Windows inside WSL2) first; a mirror "
        "of the package index may also be incomplete.",
    ),
    (
        r"File too large|Errno 27\b|os error 27\b|SIGXFSZ",
        "the size of files is limited for this account",
        "Raise the limit with `ulimit -f unlimited`, or ask who runs this machine.",
    ),
    (
        r"TOMLDecodeError|TOML parse error|configuration error: `?project",
        "pyproject.toml is damaged",
        "Put it back with `git checkout pyproject.toml`.",
    ),
)
# Lines that say why, in the words of Python, uv and pip; the last of the first kind.
REASONS = (r"^[\w.]*(?:Error|Exception): .", r"^Caused by: .", r"^(?:ERROR|error): .")
INDEX = "https://pypi.org/simple/"
WAITS, WAIT_SECONDS = 1800, 1  # for another set-up in the same folder


class SetupError(Exception):
    """Set-up cannot go on: what stopped, the cause and the cure."""

    def __init__(self, what, cause, cure):
        super().__init__(f"{what}.\n  Cause: {cause}.\n  Cure:  {cure}")


def say(message):
    """Print one line of progress at once."""
    print("coursekit: " + message, flush=True)


# ---------------------------------------------------------------- what is needed


def supported(version):
    """Tell whether the course runs on this (major, minor, ...) Python version."""
    return LOWEST <= tuple(version[:2]) <= HIGHEST


def ask(command, run=subprocess.run):
    """Run a short command; return (status, output), or (None, "") if it cannot run."""
    try:
        answer = run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            universal_newlines=True,
            timeout=30,
        )
    except (OSError, subprocess.SubprocessError):
        return None, ""
    return answer.returncode, answer.stdout


def starts(python):
    """Tell whether this Python can be run."""
    return ask([python, "-c", "import sys"])[0] == 0


def suitable_python(which=shutil.which, runs=starts):
    """Return the path of a supported Python on PATH, the newest first, or None.

    Each is tried: a version manager's placeholder may stand there for a Python that
    is not installed.
    """
    for minor in range(HIGHEST[1], LOWEST[1] - 1, -1):
        path = which(f"python3.{minor}")
        if path and runs(path):
            return path
    return None


def python_error(version):
    """Build the error for a Python outside the supported range."""
    found = ".".join(str(part) for part in version[:3])
    side = "old" if tuple(version[:2]) < LOWEST else "new"
    lowest, highest = (".".join(map(str, bound)) for bound in (LOWEST, HIGHEST))
    return SetupError(
        f"Python {found} is too {side}",
        f"the course needs Python {lowest} to {highest}",
        f"Install one, for example with `uv python install {highest}` "
        "(https://docs.astral.sh/uv) or your system's packages, and name it: "
        f"`make lab PYTHON=python{highest}`. With conda: "
        "`conda env create -f environment.yml`.",
    )


def check_platform(platform):
    """Raise SetupError on native Windows, where only WSL2 is supported."""
    if platform == "win32":
        raise SetupError(
            "Windows itself is not supported",
            "the simulator and the tools of the course need Linux",
            "Install WSL2 with `wsl --install`, clone the course inside it and "
            "run `make lab` there.",
        )


def check_modules(version, find_spec=importlib.util.find_spec):
    """Raise SetupError when this Python cannot make virtual environments."""
    missing = [name for name in ("venv", "ensurepip") if find_spec(name) is None]
    if missing:
        release = ".".join(map(str, version[:2]))
        raise SetupError(
            "This Python cannot make a virtual environment",
            f"its module {' and '.join(missing)} is missing; Debian and Ubuntu ship "
            "it as a package of its own",
            f"`sudo apt install python{release}-venv`, or use another Python: "
            "`make lab PYTHON=...`. " + AGAIN,
        )


def check_writable(folder, access=os.access):
    """Raise SetupError when the folder, or a `.venv` in it, is not writable."""
    for path in (folder, os.path.join(folder, ".venv")):
        if os.path.exists(path) and not access(path, os.W_OK | os.X_OK):
            raise SetupError(
                f"{path} cannot be written",
                "the folder belongs to another user or is read-only",
                FAILURES[3][2] + " " + AGAIN,
            )


def check_space(folder, gigabytes, disk_usage=shutil.disk_usage):
    """Raise SetupError when the folder's disk has less free space than needed.

    What an unfinished `.venv` already holds counts as free: it is made again.
    """
    held = size_of(os.path.join(folder, ".venv"))
    free = (disk_usage(folder).free + held) / 1e9
    if free < gigabytes:
        raise SetupError(
            f"{folder} has {free:.1f} GB free",
            f"the environment needs about {gigabytes} GB there",
            "Free some space, or clone the course onto a larger disk. For the "
            "temporary folder, set TMPDIR to one with more room. " + AGAIN,
        )


def size_of(folder):
    """Return the bytes that the files below a folder hold."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_size
    return total


# ---------------------------------------------------------------- which variant


def query_gpu(run=subprocess.run):
    """Return (driver version, compute capability) of the first GPU, or None."""
    fields = "--query-gpu=driver_version,compute_cap"
    status, output = ask(["nvidia-smi", fields, "--format=csv,noheader"], run)
    found = re.match(r"([\d.]+), *(\d+\.\d+)", output.strip())
    return found.groups() if status == 0 and found else None


def choose_kind(gpu):
    """Return "gpu" or "cpu" for what `query_gpu` found, and why in a sentence."""
    if gpu is None:
        return "cpu", "no NVIDIA GPU found: kernels will run on the simulator"
    driver, capability = gpu
    if int(driver.split(".")[0]) < LOWEST_DRIVER:
        return "cpu", (
            f"the driver {driver} is older than CUDA 13 needs ({LOWEST_DRIVER}): "
            "kernels will run on the simulator until it is updated"
        )
    if tuple(map(int, capability.split("."))) < (7, 5):
        return "cpu", (
            f"the GPU's compute capability {capability} is below CUDA 13's 7.5: "
            "kernels will run on the simulator"
        )
    return "gpu", f"NVIDIA GPU found (driver {driver})"


def reachable(url, seconds=2.0, opener=urllib.request.urlopen):
    """Tell whether the URL answers in time, name resolution included."""
    answered = threading.Event()

    def probe():
        with contextlib.suppress(Exception), opener(url, timeout=seconds):
            answered.set()

    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    thread.join(seconds)
    return answered.is_set()


def package_index(venv, run=subprocess.run):
    """Return the address of the package index that pip is set to use."""
    python = os.path.join(venv, "bin", "python")
    answer = ask([python, "-m", "pip", "config", "get", "global.index-url"], run)[1]
    return os.environ.get("PIP_INDEX_URL") or answer.strip() or INDEX


def check_extras(names):
    """Return the extras in order, each once; raise SetupError for an unknown one."""
    unknown = sorted(set(names) - set(MORE))
    if unknown:
        raise SetupError(
            f"There is no extra {unknown[0]!r}",
            "EXTRAS takes the names {}".format(", ".join(sorted(MORE))),
            "Write `make setup EXTRAS=dsl`, `make setup EXTRAS=libraries`, or both: "
            '`make setup EXTRAS="dsl libraries"`.',
        )
    return sorted(set(names))


def commands(venv, kind, cpu_index, extras=()):
    """Return the commands: fetch uv; install the lock by uv; or by pip; then the rest.

    The rest is the course itself, torch, what a GPU needs, and the extras; what the
    extras take without its dependencies comes last. Several indexes have builds of
    torch, with hashes of their own: so the lock is without it, and pip installs it,
    which knows the user's settings.
    """
    bin = os.path.join(venv, "bin")
    pip = [os.path.join(bin, "python"), "-m", "pip", "install", "--no-input"]
    pip += ["--disable-pip-version-check", "--progress-bar", "off"]
    uv = [os.path.join(bin, "uv"), "pip", "install", "--no-progress"]
    uv += ["--python", os.path.join(bin, "python"), "--compile-bytecode"]
    lock = ["--require-hashes", "--requirement", LOCK]
    named = ",".join([EXTRAS[kind], *(n for e in extras for n in MORE[e][kind])])
    rest = ["--no-build-isolation", "--editable", f".[{named}]"]
    if kind == "cpu" and cpu_index:
        rest += ["--extra-index-url", cpu_index]
    alone = [pip + ["--no-deps", *ALONE[extra]] for extra in extras if extra in ALONE]
    return [pip + [UV], uv + lock, pip + lock, pip + rest, *alone]


# ---------------------------------------------------------------- what is there


def fingerprint(root, version):
    """Return a hash of what the environment depends on."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", LOCK):
        with open(os.path.join(root, name), "rb") as file:
            digest.update(file.read())
    digest.update(repr((tuple(version[:2]), os.path.abspath(root))).encode())
    return digest.hexdigest()


def read_stamp(root):
    """Return what a complete `.venv` says of itself; nothing of an incomplete one."""
    venv = os.path.join(root, ".venv")
    try:
        with open(os.path.join(venv, STAMP)) as file:
            stamp = json.load(file)
    except (OSError, ValueError):
        return {}
    programs = (os.path.join(venv, "bin", name) for name in ("python", "pip"))
    return stamp if all(map(os.path.exists, programs)) else {}


def is_current(root, expected, kind, extras=()):
    """Tell whether `.venv` was set up completely for this fingerprint and kind.

    An environment made with a GPU also serves without one; one with more extras also
    serves where fewer are asked for.
    """
    stamp = read_stamp(root)
    return (
        stamp.get("fingerprint") == expected
        and stamp["kind"] in (kind, "gpu")
        and set(extras) <= set(stamp.get("extras", []))
    )


def is_reusable(root, version):
    """Tell whether `.venv` is complete and of this Python."""
    return read_stamp(root).get("python") == list(version[:2])


def write_stamp(root, version, expected, kind, extras=()):
    """Mark the environment as complete, in one step that cannot be half done."""
    stamp = {"python": list(version[:2]), "fingerprint": expected, "kind": kind}
    if extras:
        stamp["extras"] = list(extras)
    path = os.path.join(root, ".venv", STAMP)
    with open(path + ".new", "w") as file:
        json.dump(stamp, file)
    os.replace(path + ".new", path)


# ---------------------------------------------------------------- doing it


@contextlib.contextmanager
def one_at_a_time(folder):
    """Let other set-ups in the same folder wait for this one."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another set-up is running here; waiting for it ...")
            wait_for_lock(lambda: fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


def wait_for_lock(take, pause=time.sleep):
    """Try to take a lock again and again; raise SetupError after half an hour."""
    for _ in range(WAITS):
        with contextlib.suppress(OSError):
            return take()
        pause(WAIT_SECONDS)
    raise SetupError(
        "Another set-up in this folder does not end",
        "it waits for something itself, or its process hangs",
        "Look for it with `ps aux | grep setup_environment` and end it. " + AGAIN,
    )


def stage(line):
    """Return what a line of uv or pip means to someone who waits, or None."""
    size = r"\((\d+(?:\.\d+)?) ?([MG])i?B\)"
    download = re.match(rf" *Downloading (\S+?)(?:-\d\S*)? {size}", line)
    if download and (download.group(3) == "G" or float(download.group(2)) >= 50):
        return "downloading {} ({} {}B) ...".format(*download.groups())
    unpacked = re.match("Installing collected packages: (.+)", line)
    if unpacked:
        several = unpacked.group(1).count(",") + 1
        names = unpacked.group(1) if several < 3 else f"{several} packages"
        return f"unpacking {names} ..."
    linked = re.match(r"Installed (\d+ packages?) in", line)
    return f"unpacked {linked.group(1)}; compiling them ..." if linked else None


def diagnose(log):
    """Build the error for what pip wrote before it failed."""
    lines = [line.strip().rstrip(".") for line in log.splitlines() if line.strip()]
    cause, cure, patterns = "pip failed", "Read the log.", REASONS
    for pattern, known_cause, known_cure in FAILURES:
        if re.search(pattern, log, re.IGNORECASE):
            cause, cure, patterns = (
                known_cause,
                known_cure,
                ("(?i)" + pattern, *REASONS),
            )
            break
    evidence = (reasons(lines, patterns) or lines or ["no output"])[-1]
    return SetupError(
        "The packages could not be installed (log: .venv/setup.log)",
        f"{cause}; pip says: {evidence}",
        f"{cure} {AGAIN}",
    )


def reasons(lines, patterns):
    """Return the lines that match the first of the patterns that any line matches."""
    for pattern in patterns:
        found = [line for line in lines if re.search(pattern, line)]
        if found:
            return found
    return []


def environment():
    """Return the variables for the child processes: nothing from outside `.venv`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX")
    }
    return dict(kept, PIP_USER="0", PYTHONNOUSERSITE="1", PYTHONUNBUFFERED="1")


def run_logged(command, root):
    """Run a command with its output in `.venv/setup.log`; return (status, output)."""
    lines = []
    with open(os.path.join(root, ".venv", "setup.log"), "a") as log:
        log.write("$ " + " ".join(command) + "\n")
        with subprocess.Popen(
            command,
            cwd=root,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            errors="replace",
        ) as process:
            for line in process.stdout:
                log.write(line)
                lines.append(line)
                if stage(line):
                    say("  " + stage(line))
    return process.returncode, "".join(lines)


def make_venv(root, version):
    """Make an empty `.venv`, or keep the one that is there and fits."""
    if is_reusable(root, version):
        return
    release = ".".join(map(str, version[:3]))
    say(f"making .venv with Python {release} ...")
    answer = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", os.path.join(root, ".venv")],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    if answer.returncode:
        raise SetupError(
            "The virtual environment could not be made",
            (answer.stdout.strip() or "no output").replace("\n", " "),
            "Remove the folder .venv. " + AGAIN,
        )


def install(root, kind, extras=(), run=run_logged, probe=reachable):
    """Install what the lock names, the course, torch and the extras; try an import."""
    venv = os.path.join(root, ".venv")
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(venv, STAMP))
    say("installing the packages, 1 to 3 minutes (log: .venv/setup.log) ...")
    packages = package_index(venv)
    if not probe(packages):
        say("  " + packages + " does not answer: is there a network, or a proxy?")
        say("  trying nevertheless, which may take some minutes ...")
    index = CPU_TORCH_INDEX if kind == "cpu" and probe(CPU_TORCH_INDEX) else None
    get_uv, by_uv, by_pip, *rest = commands(venv, kind, index, extras)
    imports = "import coursekit, jupyterlab, matplotlib, nbval, numba, numpy, pytest"
    remaining = [*rest, [os.path.join(venv, "bin", "python"), "-c", imports]]
    if run(get_uv, root)[0] or run(by_uv, root)[0]:
        say("  uv cannot install them (the log says why); pip does, more slowly ...")
        remaining.insert(0, by_pip)
    for command in remaining:
        status, log = run(command, root)
        if status:
            raise diagnose(log)


def set_up(root, version, gpu, extras=()):
    """Bring `.venv` up to date: nothing to do when it is. Its extras stay."""
    kind, reason = choose_kind(gpu)
    expected = fingerprint(root, version)
    if is_current(root, expected, kind, extras):
        return
    check_modules(version)
    check_writable(root)
    more = sum(MORE_GIGABYTES[extra] for extra in extras)
    check_space(root, GIGABYTES[kind] + more)
    check_space(tempfile.gettempdir(), TEMPORARY_GIGABYTES[kind])
    with one_at_a_time(root):
        if is_current(root, expected, kind, extras):
            return
        start = time.monotonic()
        say(reason + ".")
        extras = sorted({*extras, *read_stamp(root).get("extras", [])} & set(MORE))
        make_venv(root, version)
        install(root, kind, extras)
        write_stamp(root, version, expected, kind, extras)
    say(f"ready in {time.monotonic() - start:.0f} s.")


def main(extras=()):
    """Set up the folder above this file with these extras; return the exit status."""
    try:
        check_platform(sys.platform)
        extras = check_extras(extras)
        if not supported(sys.version_info):
            other = suitable_python()
            if other is None:
                raise python_error(sys.version_info)
            say(f"this is Python {sys.version.split()[0]}; using {other} instead.")
            os.execv(other, [other, "-I", os.path.abspath(__file__), *extras])
        set_up(ROOT, sys.version_info, query_gpu(), extras)
    except SetupError as error:
        return complain(error, 1)
    except OSError as error:
        cure = "Check free space and permissions (`df -h .`, `ls -ld . .venv`). "
        return complain(SetupError("The set-up stopped", error, cure + AGAIN), 1)
    except KeyboardInterrupt:
        cure = "Run the same command again; what is half made is made anew."
        stop = SetupError("The set-up was interrupted", "Ctrl-C was pressed", cure)
        return complain(stop, 130)
    return 0


def complain(error, status):
    """Print the error; return the exit status."""
    print(f"\ncoursekit: {error}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
