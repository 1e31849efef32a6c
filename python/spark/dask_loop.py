"""Iterative parameter mixing on Dask: `python dask_loop.py`. What Spark does, in thirty lines."""

import json

import numpy as np
from dask.distributed import Client
from rosenblatt import Model, _rosenblatt

OPTIONS = json.dumps({"algorithm": "perceptron", "epochs": 5, "validation": None})
NAMES = ["down", "up"]


def pack(shard, n_shards):
    """The rows of one place, packed where they are."""
    random = np.random.default_rng(shard)
    X = random.standard_normal((2000, 20))
    y = (X[:, 0] - X[:, 1] > 0).astype(np.uint32)
    packs, _, counts, _, _ = _rosenblatt.pack_rows(OPTIONS, X, y, NAMES, None, shard, n_shards)
    return packs, counts


def epoch(start, shard, packed):
    return _rosenblatt.shard_epoch(start, shard, iter(packed[0]))


def main(n_shards=4):
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        packed = [client.submit(pack, shard, n_shards) for shard in range(n_shards)]
        counts = np.sum([one[1] for one in client.gather(packed)], axis=0).tolist()
        mixture = _rosenblatt.Mixture(OPTIONS, NAMES, counts, 20, n_shards)
        while not mixture.is_over:
            start = mixture.start()
            shares = client.gather([client.submit(epoch, start, shard, rows) for shard, rows in enumerate(packed)])
            number, rounds, mistakes, *_ = mixture.take(shares)
            print(f"epoch {number}: {mistakes} mistakes in {rounds} rows")
        Model(mixture.model()).save("dask.model")


if __name__ == "__main__":
    main()
