"""What Pillow and ONNX Runtime make of images: `reference.py MODEL TENSORS SIZE IMAGE...` writes TENSORS.features.

TENSORS holds what was shown to the backbone, 32-bit floats of shape (images, 3, SIZE, SIZE). The features of exactly
those are written as 32-bit floats; how far they are from Pillow's own resizing is printed as JSON, in steps of 0..255.
"""

import json
import sys

import numpy
import onnxruntime
from PIL import Image

model, tensors, size, *images = sys.argv[1:]
size = int(size)
shown = numpy.fromfile(tensors, numpy.float32).reshape(len(images), 3, size, size)
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
(features,) = session.run(["features"], {session.get_inputs()[0].name: shown})
features.astype(numpy.float32).tofile(tensors + ".features")


def pillow(path):
    image = Image.open(path).convert("RGB").resize((size, size), Image.Resampling.BICUBIC)
    return numpy.asarray(image, numpy.float32).transpose(2, 0, 1)


distance = numpy.abs(shown * 128 + 127 - numpy.stack([pillow(path) for path in images]))
print(json.dumps({"largest": float(distance.max()), "mean": float(distance.mean())}))
