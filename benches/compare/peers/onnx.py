"""An exported model in onnxruntime, on all cores."""

import time

import numpy as np
import onnxruntime
from onnx.utils import extract_model


def session(path):
    """Of the part of the graph that leads to the class: onnxruntime computes every output, also those not asked for."""
    part = path.with_suffix(".class.onnx")
    extract_model(str(path), str(part), ["x"], ["class"])
    return onnxruntime.InferenceSession(str(part), providers=["CPUExecutionProvider"])


def predict(model, x, batch=None):
    batch = batch or len(x)
    answers = [model.run(["class"], {"x": x[i : i + batch]})[0] for i in range(0, len(x), batch)]
    return np.concatenate(answers)


def best_batch(model, x, choices):
    """The fastest batch size."""

    def seconds(batch):
        start = time.perf_counter()
        predict(model, x, batch)
        return time.perf_counter() - start

    predict(model, x, choices[0])
    return min(choices, key=seconds)


def median_seconds(model, x, times):
    predict(model, x)
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        model.run(["class"], {"x": x})
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))
