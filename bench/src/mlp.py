"""A peer's network on MNIST: seconds, processor seconds and test error of every epoch, a line each.

python mlp.py WHO THREADS EPOCHS SEED BATCH TRAIN-ROWS TRAIN-CLASSES TEST-ROWS TEST-CLASSES

WHO is `scikit-learn` (float32), `scikit-learn-double`, or `torch` (float32).
784-128-10, ReLU, softmax cross-entropy, Adam with rate 0.001.
"""

import os
import sys
import time

who, threads, epochs, seed, batch = sys.argv[1], *map(int, sys.argv[2:6])
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(threads)

import numpy as np

kind = np.float64 if who.endswith("double") else np.float32
x = np.fromfile(sys.argv[6], dtype=np.float32).reshape(-1, 784).astype(kind)
y = np.fromfile(sys.argv[7], dtype=np.uint32).astype(np.int64)
x_test = np.fromfile(sys.argv[8], dtype=np.float32).reshape(-1, 784).astype(kind)
y_test = np.fromfile(sys.argv[9], dtype=np.uint32).astype(np.int64)

if who.startswith("scikit"):
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier((128,), batch_size=batch, random_state=seed)

    def epoch():
        model.partial_fit(x, y, classes=np.arange(10))

    def predicted():
        return model.predict(x_test)

else:
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    network = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    loss = torch.nn.CrossEntropyLoss()
    rows, classes = torch.from_numpy(x), torch.from_numpy(y)

    def epoch():
        order = torch.randperm(len(rows))
        for part in order.split(batch):
            optimiser.zero_grad()
            loss(network(rows[part]), classes[part]).backward()
            optimiser.step()

    def predicted():
        with torch.no_grad():
            return network(torch.from_numpy(x_test)).argmax(1).numpy()


for _ in range(epochs):
    wall, used = time.perf_counter(), time.process_time()
    epoch()
    wall, used = time.perf_counter() - wall, time.process_time() - used
    print(wall, used, float(np.mean(predicted() != y_test)), flush=True)
