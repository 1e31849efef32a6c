"""Compiles kernels.cu with NVRTC, which needs no card: python compile.py [PATH OF libnvrtc.so]

kernels.ptx is for compute capability 8.0, which every card since 2020 runs; tensors.ptx holds the one function that has
better instructions since 9.0. Both are written by the oldest NVRTC that will do (12.0), since a driver reads what
compilers of its own age and before have written.
"""

import ctypes
import pathlib
import sys

CODES = {
    "kernels.ptx": [b"--gpu-architecture=compute_80"],
    "tensors.ptx": [b"--gpu-architecture=compute_90", b"--define-macro=TENSORS_ALONE"],
}
OPTIONS = [b"--fmad=false", b"--std=c++17"]


def fnv(text: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def compiled(nvrtc: ctypes.CDLL, source: bytes, options: list[bytes]) -> str:
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    print(log.value.decode(), file=sys.stderr)
    if failed:
        sys.exit("kernels.cu does not compile")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, code)
    lines = [line for line in code.value.decode().splitlines() if line.strip() and not line.startswith("//")]
    return f"// of kernels.cu {fnv(source):016x}\n" + "\n".join(lines) + "\n"


def main() -> None:
    nvrtc = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libnvrtc.so.12")
    here = pathlib.Path(__file__).parent / "src"
    source = (here / "kernels.cu").read_bytes()
    for name, options in CODES.items():
        (here / name).write_text(compiled(nvrtc, source, options + OPTIONS))


main()
