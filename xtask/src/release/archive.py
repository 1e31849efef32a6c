"""Packs a folder so that the same files give the same bytes: names sorted, one date, one owner."""

import gzip
import os
import sys
import tarfile
import time
import zipfile
from pathlib import Path

folder, out, date = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
paths = sorted(path for path in folder.rglob("*") if path.is_file())
names = [f"{folder.name}/{path.relative_to(folder).as_posix()}" for path in paths]


def mode(path: Path) -> int:
    return 0o755 if os.access(path, os.X_OK) else 0o644


if out.suffix == ".zip":
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, name in zip(paths, names):
            entry = zipfile.ZipInfo(name, time.gmtime(date)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode(path)) << 16
            archive.writestr(entry, path.read_bytes())
else:
    with open(out, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=date) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for path, name in zip(paths, names):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mtime, entry.mode = path.stat().st_size, date, mode(path)
                with open(path, "rb") as content:
                    archive.addfile(entry, content)
