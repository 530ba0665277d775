"""What ONNX Runtime makes of sentences: `text_reference.py FOLDER SENTENCES.json` writes rows to stdout, as 32-bit floats.

The folder holds `model.onnx` and `tokenizer.json`; the rows are means over the mask, of length 1, of 256 tokens at most.
"""

import json
import sys
from pathlib import Path

import numpy
import onnxruntime
from tokenizers import Tokenizer

folder, sentences = map(Path, sys.argv[1:])
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.enable_truncation(256)
tokenizer.enable_padding()
session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])

encoded = tokenizer.encode_batch(json.loads(sentences.read_text()))
ids = numpy.array([one.ids for one in encoded], numpy.int64)
mask = numpy.array([one.attention_mask for one in encoded], numpy.int64)
(hidden,) = session.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": mask})
rows = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
sys.stdout.buffer.write(rows.astype(numpy.float32).tobytes())
