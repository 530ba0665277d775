"""A tiny sentence encoder, written byte by byte: each word has a vector, and the output is that of every token."""

import json

import numpy as np

TOKENS = ["[CLS]", "[SEP]", "[UNK]", "how", "are", "you", "what", "is", "the", "time", "my", "name"]
FEATURES = 6


def write(folder):
    """Writes the two files of an encoder, and returns the folder."""
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(network())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    return folder


def vectors():
    """The vector of each token."""
    return np.random.default_rng(0).normal(size=(len(TOKENS), FEATURES)).astype(np.float32)


def row(text):
    """The row of a sentence of known words, by hand."""
    tokens = [TOKENS.index(token) for token in ["[CLS]", *text.split(), "[SEP]"]]
    mean = vectors()[tokens].mean(axis=0)
    return mean / np.linalg.norm(mean)


def tokenizer():
    def special(token):
        return {"SpecialToken": {"id": token, "type_id": 0}}

    frame = [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]")]
    ids = {token: {"id": token, "ids": [place], "tokens": [token]} for place, token in enumerate(TOKENS[:2])}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "TemplateProcessing", "single": frame, "pair": frame, "special_tokens": ids},
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {token: i for i, token in enumerate(TOKENS)}, "unk_token": "[UNK]"},
    }


def network():
    """An ONNX graph of one Gather; field numbers are those of `onnx.proto`."""
    table = integers(1, *vectors().shape) + integers(2, 1) + field(8, b"vectors") + field(9, vectors().tobytes())
    gather = field(1, b"vectors") + field(1, b"input_ids") + field(2, b"last_hidden_state") + field(4, b"Gather")
    graph = field(1, gather) + field(2, b"tiny") + field(5, table)
    graph += field(11, port("input_ids", 7, ["n", "t"])) + field(11, port("attention_mask", 7, ["n", "t"]))
    graph += field(12, port("last_hidden_state", 1, ["n", "t", FEATURES]))
    return integers(1, 8) + field(7, graph) + field(8, field(1, b"") + integers(2, 17))


def port(name, kind, sides):
    sides = [integers(1, side) if isinstance(side, int) else field(2, side.encode()) for side in sides]
    shape = b"".join(field(1, side) for side in sides)
    return field(1, name.encode()) + field(2, field(1, integers(1, kind) + field(2, shape)))


def integers(number, *values):
    return b"".join(varint(number << 3) + varint(value) for value in values)


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value):
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
