"""Iterative parameter mixing on Ray: `python ray_loop.py ray.model`. Each actor keeps its rows; only weights travel."""

import sys

import ray
from places import N_PLACES, epoch, mixed, pack


@ray.remote
class Place:
    def __init__(self, place):
        self.place, self.packed = place, pack(place)

    def counts(self):
        return self.packed[1]

    def epoch(self, start):
        return epoch(start, self.place, self.packed)


def main(path):
    ray.init(num_cpus=N_PLACES, include_dashboard=False)
    places = [Place.remote(place) for place in range(N_PLACES)]

    def each(start):
        held = ray.put(start)
        return ray.get([place.epoch.remote(held) for place in places])

    mixed(ray.get([place.counts.remote() for place in places]), each).save(path)


if __name__ == "__main__":
    main(sys.argv[1])
