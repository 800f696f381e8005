"""tamis_build - the backend that makes wheels and source distributions (PEP 517), of Python's own library alone

pip and others call build_wheel() and build_sdist().  By hand:

    python3 tamis_build.py wheel FOLDER         a wheel, in FOLDER
    python3 tamis_build.py sdist FOLDER         a source distribution, which builds from itself alone
    python3 tamis_build.py install FOLDER       what a wheel has, unpacked in FOLDER
    python3 tamis_build.py inplace              the native module beside its sources

The library is compiled in, as one file: library/tamis.c of a source distribution, or what scripts/amalgamate.py makes
of the source tree.  If 'make' has built the library there, and nothing has changed since, it is linked instead: the
same code, without the half minute of the compiler.  Environment:

    CC, CFLAGS, LDFLAGS     compiler (cc) and its options, after our own; with one of the first two the library is compiled
    TAMIS_LIBRARY           libtamis.a or libtamis.so: linked in its place; empty: the library is compiled

One wheel serves CPython 3.9 and later: the native module keeps to the stable interface (native/native.h).

SPDX-License-Identifier: MIT
"""
import ast
import base64
import contextlib
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parents[1]
TREE = HERE.parents[1]  # the source tree, if this is not a source distribution
LIBRARY = HERE / "library"
MODULE = "_native.abi3.so"
TAG = "cp39-abi3"
EXPORTS = "{ global: PyInit__native; local: *; };\n"


# --- what the project file says -----------------------------------------------------------------------


def project():
    """The members of [project] that are text or lists of text: the little of TOML that the file uses."""
    text = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    section = re.search(r"^\[project\]\n(.*?)(?=^\[|\Z)", text, re.M | re.S).group(1)
    found = re.findall(r'^([\w-]+) = ("[^"\n]*"|\[.*?\])$', section, re.M | re.S)
    return {name: ast.literal_eval(value) for name, value in found}


def version():
    header = LIBRARY / "tamis.h" if LIBRARY.is_dir() else TREE / "include/tamis/tamis.h"
    numbers = re.findall(r"^#define TAMIS_VERSION_\w+ (\d+)", header.read_text(encoding="utf-8"), re.M)
    return ".".join(numbers[:3])


def metadata():
    told = project()
    lines = ["Metadata-Version: 2.1", "Name: " + told["name"], "Version: " + version(),
             "Summary: " + told["description"], "License: MIT AND BSD-2-Clause",
             "Keywords: " + ",".join(told["keywords"])]
    lines += ["Classifier: " + one for one in told["classifiers"]]
    lines += ["Requires-Python: " + told["requires-python"], "Provides-Extra: dask",
              "Requires-Dist: dask; extra == 'dask'", "Requires-Dist: distributed; extra == 'dask'",
              "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (HERE / told["readme"]).read_text(encoding="utf-8")


# --- the library and the native module ----------------------------------------------------------------


def amalgamate(folder):
    """tamis.c, tamis.h and the licences of what is in them, in a folder."""
    folder = pathlib.Path(folder)
    if LIBRARY.is_dir():
        shutil.copytree(LIBRARY, folder, dirs_exist_ok=True)
        return
    subprocess.run([sys.executable, TREE / "scripts/amalgamate.py", TREE, folder], check=True,
                   stdout=subprocess.DEVNULL)
    text = (folder / "tamis.c").read_text(encoding="utf-8")
    xxhash = re.search(r"/\*\s*\n \* xxHash - .*?\*/", text, re.S).group()
    (folder / "LICENSE.xxHash").write_text(re.sub(r"^ ?[/*]*/? ?", "", xxhash, flags=re.M), encoding="utf-8")
    shutil.copy(TREE / "LICENSE", folder / "LICENSE")


def compiler(kind):
    options = ["-O3", "-DNDEBUG", "-std=gnu11", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]
    return shlex.split(os.environ.get("CC", "cc")) + options + shlex.split(os.environ.get("CFLAGS", "")) + kind


def built():
    """The library that 'make' has built of the source tree as it is, or None."""
    archive = TREE / "build/release/libtamis.a"
    if LIBRARY.is_dir() or not archive.is_file() or os.environ.get("CC") or os.environ.get("CFLAGS"):
        return None
    made = archive.stat().st_mtime
    sources = [TREE / "CMakeLists.txt", *(TREE / "src").rglob("*"), *(TREE / "include").rglob("*")]
    return str(archive) if all(path.stat().st_mtime <= made for path in sources) else None


def require():
    """Ends with the names of what is not here and is needed to compile."""
    packages = []
    if shutil.which(compiler([])[0]) is None:
        packages.append("gcc libc6-dev")
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        packages.append("python3-dev")
    if packages:
        raise SystemExit("tamis_build: please install these packages (names as in Debian 12): " + " ".join(packages))


def compile_module(output, library):
    """The native module; 'library' is a folder with tamis.c."""
    named = os.environ.get("TAMIS_LIBRARY", built())
    sources = sorted((HERE / "native").glob("*.c"))
    includes = ["-I" + sysconfig.get_path("include")]
    if named:
        includes.append("-I" + str(TREE / "include"))
    else:
        sources.append(pathlib.Path(library) / "tamis.c")
        includes += ["-I" + str(library), "-DTAMIS_ONE_FILE"]
    link = ["-shared"] if sys.platform != "darwin" else ["-bundle", "-undefined", "dynamic_lookup"]
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for source in sources:
            objects.append(os.path.join(folder, source.stem + ".o"))
            run(compiler(includes + ["-c", str(source), "-o", objects[-1]]))
        if sys.platform.startswith("linux"):
            exports = pathlib.Path(folder) / "exports"
            exports.write_text(EXPORTS)
            link.append("-Wl,--version-script=" + str(exports))
        if named and named.endswith(".so"):
            objects += ["-L" + os.path.dirname(named), "-ltamis"]
        elif named:
            objects.append(named)
        run(compiler(link + objects + ["-o", str(output), "-lm", "-pthread"]) +
            shlex.split(os.environ.get("LDFLAGS", "")))


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    sys.stderr.write(done.stdout)
    if done.returncode != 0:
        raise SystemExit("tamis_build: failed: " + " ".join(command))


# --- wheels -------------------------------------------------------------------------------------------


def platform_tag():
    return re.sub(r"[^A-Za-z0-9_]", "_", sysconfig.get_platform())


@contextlib.contextmanager
def contents():
    """All files of a wheel but RECORD: (name, bytes or path)."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        require()
        amalgamate(folder / "library")
        compile_module(folder / MODULE, folder / "library")
        info = f"tamis-{version()}.dist-info/"
        files = [("tamis/" + path.name, path.read_bytes()) for path in sorted((HERE / "tamis").iterdir())
                 if path.suffix in (".py", ".pyi") or path.name == "py.typed"]
        files.append(("tamis/" + MODULE, (folder / MODULE).read_bytes()))
        wheel = f"Wheel-Version: 1.0\nGenerator: tamis_build\nRoot-Is-Purelib: false\nTag: {TAG}-{platform_tag()}\n"
        files += [(info + "METADATA", metadata().encode()), (info + "WHEEL", wheel.encode())]
        for name in ("LICENSE", "LICENSE.xxHash"):
            files.append((info + "licenses/" + name, (folder / "library" / name).read_bytes()))
        yield files, info


def record(files, info):
    lines = []
    for name, data in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + info + "RECORD,,\n"


def moment():
    """When the files were made: SOURCE_DATE_EPOCH, or a fixed day, so that the same sources give the same bytes."""
    return int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"tamis-{version()}-{TAG}-{platform_tag()}.whl"
    with contents() as (files, info):
        date = time.gmtime(max(moment(), 315532800))[:6]
        with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in files + [(info + "RECORD", record(files, info).encode())]:
                entry = zipfile.ZipInfo(path, date)
                entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, data)
    return name


def install(folder):
    """What a wheel has, in a folder where Python looks for modules."""
    with contents() as (files, info):
        for name, data in files + [(info + "RECORD", record(files, info).encode()), (info + "INSTALLER", b"tamis\n")]:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o644)


# --- source distributions -----------------------------------------------------------------------------


def build_sdist(sdist_directory, config_settings=None):
    top = f"tamis-{version()}"
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "library"
        amalgamate(library)
        files = [(path.relative_to(HERE).as_posix(), path) for pattern in
                 ("pyproject.toml", "README.md", "build_backend/*.py", "native/*.[ch]", "tamis/*.py", "tamis/*.pyi",
                  "tamis/py.typed") for path in sorted(HERE.glob(pattern))]
        files += [("library/" + path.name, path) for path in sorted(library.iterdir())]
        name = top + ".tar.gz"
        with tarfile.open(os.path.join(sdist_directory, name), "w:gz", format=tarfile.PAX_FORMAT) as archive:
            data = metadata().encode()
            for path, content in [("PKG-INFO", data)] + [(path, file.read_bytes()) for path, file in files]:
                entry = tarfile.TarInfo(top + "/" + path)
                entry.size, entry.mtime, entry.mode = len(content), moment(), 0o644
                archive.addfile(entry, io.BytesIO(content))
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def main(arguments):
    if len(arguments) == 2 and arguments[0] in ("wheel", "sdist", "install"):
        task, folder = arguments
        os.makedirs(folder, exist_ok=True)
        if task == "install":
            install(folder)
        else:
            print(os.path.join(folder, (build_wheel if task == "wheel" else build_sdist)(folder)))
    elif arguments == ["inplace"]:
        with tempfile.TemporaryDirectory() as folder:
            require()
            if not os.environ.get("TAMIS_LIBRARY", built()):
                amalgamate(folder)
            compile_module(HERE / "tamis" / MODULE, folder)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
