"""Iterative parameter mixing on Ray: `python ray_loop.py`. Each actor keeps its rows; only weights travel."""

import numpy as np
import ray
from dask_loop import NAMES, OPTIONS, epoch, pack
from rosenblatt import Model, _rosenblatt


@ray.remote
class Shard:
    def __init__(self, shard, n_shards):
        self.shard, self.packed = shard, pack(shard, n_shards)

    def counts(self):
        return self.packed[1]

    def epoch(self, start):
        return epoch(start, self.shard, self.packed)


def main(n_shards=4):
    ray.init(num_cpus=2, include_dashboard=False)
    shards = [Shard.remote(shard, n_shards) for shard in range(n_shards)]
    counts = np.sum(ray.get([shard.counts.remote() for shard in shards]), axis=0).tolist()
    mixture = _rosenblatt.Mixture(OPTIONS, NAMES, counts, 20, n_shards)
    while not mixture.is_over:
        start = ray.put(mixture.start())
        number, rounds, mistakes, *_ = mixture.take(ray.get([shard.epoch.remote(start) for shard in shards]))
        print(f"epoch {number}: {mistakes} mistakes in {rounds} rows")
    Model(mixture.model()).save("ray.model")


if __name__ == "__main__":
    main()
