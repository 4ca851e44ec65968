"""Compiles the kernels to PTX, which a driver finishes for its device: `pip install nvidia-cuda-nvrtc-cu12==12.1.105`.

python crates/katoms-cuda/kernels/compile.py          writes the files anew
python crates/katoms-cuda/kernels/compile.py --check  says whether they are current
"""

import ctypes
import gzip
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
#: What each file is compiled with. PTX for this architecture runs on it and on all that came after.
OPTIONS = ["--gpu-architecture=compute_80", "--std=c++17"]
MANY_BY_ROWS = ["F64", "F32"]
FILES = {
    "COMMON": [],
    **{
        numbers: [f"-DNUMBERS={numbers}", *(["-DMANY_BY_ROWS"] if numbers in MANY_BY_ROWS else [])]
        for numbers in ["F64", "F32", "F16", "BF16", "U8", "I8"]
    },
}


def compiler() -> ctypes.CDLL:
    """The compiler of the package nvidia-cuda-nvrtc-cu12."""
    found = importlib.util.find_spec("nvidia")
    for folder in [] if found is None else found.submodule_search_locations:
        for library in Path(folder, "cuda_nvrtc").rglob("*nvrtc*.so.12"):
            if "builtins" not in library.name:
                return ctypes.CDLL(str(library))
    raise ImportError("pip install nvidia-cuda-nvrtc-cu12==12.1.105")


def compiled(nvrtc: ctypes.CDLL, options: list[str]) -> bytes:
    """The PTX of the kernels with these options."""
    source, program, size = (HERE / "design.cu").read_bytes(), ctypes.c_void_p(), ctypes.c_size_t()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"design.cu", 0, None, None) != 0:
        raise RuntimeError("the compiler does not start")
    encoded = [option.encode() for option in OPTIONS + options]
    failed = nvrtc.nvrtcCompileProgram(program, len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
    if failed:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(log.value.decode())
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    return text.value


def main() -> None:
    nvrtc, stale = compiler(), []
    for name, options in FILES.items():
        text, path = compiled(nvrtc, options), HERE / f"{name}.ptx.gz"
        if "--check" not in sys.argv:
            path.write_bytes(gzip.compress(text, mtime=0))
        elif gzip.decompress(path.read_bytes()) != text:
            stale.append(path.name)
    if stale:
        sys.exit(f"not current: {', '.join(stale)}; run {Path(__file__).name} without --check")


if __name__ == "__main__":
    main()
