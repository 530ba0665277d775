"""Runs an ONNX model on rows of little-endian float32 and prints its answers as JSON: run_onnx.py MODEL ROWS"""

import json
import sys

import numpy
import onnxruntime

model, rows = sys.argv[1:]
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
(x,) = session.get_inputs()
rows = numpy.fromfile(rows, dtype="<f4").reshape(-1, x.shape[1])
names = [output.name for output in session.get_outputs()]
answers = {name: value.tolist() for name, value in zip(names, session.run(names, {x.name: rows}))}
print(json.dumps(answers | {"metadata": session.get_modelmeta().custom_metadata_map}))
