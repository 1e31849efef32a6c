"""Iterative parameter mixing on Dask, what Spark does in a few lines: `python dask_loop.py dask.model`."""

import sys

from dask.distributed import Client
from places import N_PLACES, epoch, mixed, pack


def main(path):
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        packed = [client.submit(pack, place) for place in range(N_PLACES)]

        def each(start):
            held = client.scatter(start, broadcast=True)
            return client.gather([client.submit(epoch, held, place, rows) for place, rows in enumerate(packed)])

        mixed([counts for _, counts in client.gather(packed)], each).save(path)


if __name__ == "__main__":
    main(sys.argv[1])
