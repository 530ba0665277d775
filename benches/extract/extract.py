"""Compares the runtimes that compute features. Start it with `bash benches/extract/run`."""

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy
import onnxruntime
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compare"))
from worker import Worker  # noqa: E402: the folder above has to be known first

DATA = Path(os.environ["AUTOACTIVATOR_DATA"])
LITE0 = DATA / "backbones" / "efficientnet_lite0.onnx"
MINILM = DATA / "backbones" / "minilm" / "model.onnx"
TOKENS = 16  # a short sentence
BATCHES = (1, 8, 16, 32)
PHOTOGRAPHS = 200


class Session:
    """A model in onnxruntime, with one thread per run, as our own sessions have it."""

    def __init__(self, model, output, shape):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        pixels = numpy.arange(numpy.prod(shape)) * 7919 % 1000 / numpy.float32(500) - 1
        value = pixels.astype(numpy.float32).reshape(shape) if len(shape) == 4 else numpy.ones(shape, numpy.int64)
        self.inputs = {port.name: value for port in self.session.get_inputs()}
        self.output = [output]

    def seconds(self, threads, times):
        self.session.run(self.output, self.inputs)

        def runs():
            for _ in range(times):
                self.session.run(self.output, self.inputs)

        workers = [threading.Thread(target=runs) for _ in range(threads)]
        start = time.perf_counter()
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join()
        return time.perf_counter() - start


def cpu(worker):
    """CPU seconds of the worker so far; Linux only."""
    fields = Path(f"/proc/{worker.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spread(ratios):
    ratios = sorted(ratios)
    return f"**{statistics.median(ratios):.2f}** ({ratios[0]:.2f} - {ratios[-1]:.2f}; {len(ratios)})"


def network(worker, what, model, output, shape, threads, repeats):
    """A row: how many inputs a second pass through the network alone."""
    session = Session(model, output, shape)
    times = max(1, 64 // shape[0] // threads)
    job = {"model": str(model), "output": output, "shape": shape, "threads": threads, "times": times}
    pairs = []
    for _ in range(repeats):
        ours = worker.ask("network", **job)["seconds"]
        pairs.append((ours, session.seconds(threads, times)))
    n = shape[0] * threads * times
    rten, other = (statistics.median(n / pair[side] for pair in pairs) for side in (0, 1))
    ratio = spread([ours / theirs for ours, theirs in pairs])
    print(f"| {what} | {shape[0]} | {threads} | {rten:.0f} | {other:.0f} | {ratio} |", flush=True)


def extraction(worker, what, folder, size, repeats):
    """A row: images a second from file to features, and CPU milliseconds per image, by either runtime."""
    samples = {None: [], "rten": [], "onnxruntime": []}
    for _ in range(repeats):
        for runtime, taken in samples.items():
            before = cpu(worker)
            answer = worker.ask("extract", folder=str(folder), size=size, backbone=str(LITE0), runtime=runtime)
            taken.append((answer["seconds"], cpu(worker) - before, answer["images"]))

    def rate(runtime):
        return statistics.median(images / seconds for seconds, _, images in samples[runtime])

    def work(runtime):
        return statistics.median(1000 * used / images for _, used, images in samples[runtime])

    ratio = spread([a[0] / b[0] for a, b in zip(samples["rten"], samples["onnxruntime"])])
    cells = [f"{rate(runtime):.0f} ({work(runtime):.1f} ms)" for runtime in samples]
    print(f"| {what} | {size} | {' | '.join(cells)} | {ratio} |", flush=True)


def photographs(folder):
    """Images as large as those of a camera, as JPEG."""
    images = sorted((DATA / "cifar100-images" / "test").glob("*/*.png"))
    for number, path in enumerate(images[::len(images) // PHOTOGRAPHS]):
        image = Image.open(path).convert("RGB").resize((640, 480), Image.Resampling.BICUBIC)
        image.save(Path(folder) / f"{number}.jpg", quality=90)


def main():
    parser = argparse.ArgumentParser(prog="bash benches/extract/run", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="turns of each runtime (default 5)")
    repeats = parser.parse_args().repeats
    print(f"{os.cpu_count()} cores, onnxruntime {onnxruntime.__version__}.\n")
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(Path(folder))
        photographs(folder)
        print("| images | px | only decoded and resized | rten | onnxruntime | times as fast as rten |")
        print("|---|---|---|---|---|---|")
        for size in (128, 224):
            extraction(worker, "32 x 32, PNG", DATA / "cifar100-images" / "test", size, repeats)
            extraction(worker, "640 x 480, JPEG", folder, size, repeats)
        print("\n| network | batch | threads | rten | onnxruntime | times as fast as rten |")
        print("|---|---|---|---|---|---|")
        for threads in (1, 2):
            for batch in BATCHES:
                for size in (128, 224):
                    shape = [batch, 3, size, size]
                    network(worker, f"EfficientNet-Lite0, {size} px", LITE0, "features", shape, threads, repeats)
                shape = [batch, TOKENS]
                network(worker, f"MiniLM, {TOKENS} tokens", MINILM, "last_hidden_state", shape, threads, repeats)
        worker.close()


if __name__ == "__main__":
    main()
