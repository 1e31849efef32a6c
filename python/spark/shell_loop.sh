#!/usr/bin/env bash
# Iterative parameter mixing with nothing but the program: shell_loop.sh EPOCHS OUT.model ROWS.csv ROWS.csv...
# Each file stands for a place: where it lies elsewhere, put `ssh HOST` before its training and copy its model back.
set -euo pipefail
epochs=$1 out=$2
shift 2
start=()
for ((epoch = 1; epoch <= epochs; epoch++)); do
    for rows; do
        # A place that fails leaves no model, and then there is no mean.
        rm -f "$rows.model"
        "${ROSENBLATT:-rosenblatt}" train "$rows" "${start[@]}" --algorithm perceptron --epochs 1 --order given --readout last \
            --scale none --patience 0 --holdout 0 --model "$rows.model" > "$rows.log" 2>&1 &
    done
    wait
    "${ROSENBLATT:-rosenblatt}" mix "${@/%/.model}" -o "$out"
    start=(--start-from "$out")
done
