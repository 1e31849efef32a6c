"""A plain exact kernel perceptron in PyTorch, for `cargo xtask bench gpu --torch PYTHON`: python gpu_peer.py FOLDER

Degree 4 on raw pixels, ten classes, rows in blocks of 512, in doubles: products are matrix products of the card, and the
rows of a block are decided one after the other. Prints `SECONDS what`.
"""

import gzip
import sys
import time

import numpy as np
import torch

BLOCK = 512


def idx(path):
    data = gzip.open(path).read()
    dims = [int.from_bytes(data[4 + 4 * k : 8 + 4 * k], "big") for k in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(dims)).reshape(dims)


def kernel(a, b):
    return (a @ b.T / 65025.0 + 1 / 65025.0) ** 4


def learn(rows, classes):
    n = len(rows)
    supports = torch.empty(0, rows.shape[1], dtype=torch.float64, device="cuda")
    weights = torch.empty(0, 10, dtype=torch.float64, device="cuda")
    mistakes = 0
    for first in range(0, n, BLOCK):
        block = rows[first : first + BLOCK]
        labels = torch.full((len(block), 10), -1.0, dtype=torch.float64, device="cuda")
        labels.scatter_(1, classes[first : first + BLOCK, None], 1.0)
        scores = kernel(block, supports) @ weights
        gram = kernel(block, block)
        moved = torch.zeros_like(labels)
        for row in range(len(block)):
            step = labels[row] * (labels[row] * scores[row] <= 0)
            moved[row] = step
            scores += gram[row][:, None] * step
        wrong = moved.abs().sum(1) > 0
        mistakes += int(moved.abs().sum())
        supports = torch.cat([supports, block[wrong]])
        weights = torch.cat([weights, moved[wrong]])
    torch.cuda.synchronize()
    return supports, weights, mistakes


def timed(what, work):
    torch.cuda.synchronize()
    start = time.perf_counter()
    out = work()
    torch.cuda.synchronize()
    print(time.perf_counter() - start, what, flush=True)
    return out


def main():
    folder = sys.argv[1]
    read = lambda name: idx(f"{folder}/{name}-ubyte.gz")
    rows = torch.tensor(read("train-images-idx3").reshape(-1, 784), dtype=torch.float64, device="cuda")
    classes = torch.tensor(read("train-labels-idx1").astype(np.int64), device="cuda")
    test = torch.tensor(read("t10k-images-idx3").reshape(-1, 784), dtype=torch.float64, device="cuda")
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0)).cuda()
    learn(rows[:2048], classes[:2048])
    _, _, mistakes = timed("mnist, degree 4, a pass", lambda: learn(rows[order], classes[order]))
    print(f"{mistakes} mistakes", file=sys.stderr)
    supports, weights = rows[:20000], torch.randn(20000, 10, dtype=torch.float64, device="cuda")
    for _ in range(3):
        timed("predict 10,000 x 20,000", lambda: kernel(test, supports) @ weights)


main()
