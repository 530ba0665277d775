"""What is compared: one function per comparison, each naming its data, protocol and work."""

import numpy as np

from measure import Growth, Row, Sample, timed
from peers import blas, forward, onnx, projection_head, reactivation, streams
from teach import lessons

INSTANCE, WHOLE_TASK = "instance", "task-batch=all"


def gaussian(nodes, **params):
    pool = {"kind": "gaussian", "nodes": nodes, "activation": "relu", "preparation": "none"}
    return {"pool": pool, **params}


def learn(bench, data, tasks, learner, params, protocols=(), keep=None):
    exams = list(protocols) if bench.examining else []
    answer = bench.worker.ask("learn", data=data, tasks=tasks, learner={learner: params}, protocols=exams, keep=keep)
    facts = {"nodes": answer["size"]["nodes"], **answer["aca"]}
    return Sample(answer["seconds"], facts), answer


# a. The paper's learner.


def paper(bench):
    data = bench.mnist(quick=200)
    settings = {"step_size": 10, "t_max": 50, "l_max": 200, "expected_accuracy": 0.99, "r": 0.9}
    shared = bench.worker.share(data, "10/5")
    lessons = shared.lessons()
    work = {}

    def ours():
        sample, answer = learn(bench, data, "10/5", "reactivation", settings, (INSTANCE, WHOLE_TASK))
        work["multiply_adds"] = candidates_and_joins(answer["growth"], shared.train_x.shape[1])
        return sample

    def theirs():
        seconds, units = timed(lambda: reactivation.learn(lessons))
        grouped = np.empty_like(shared.test_y)
        for task in range(len(shared.tasks)):
            rows = shared.test_rows(task)
            grouped[rows] = reactivation.predict_group(units, shared.test_x[rows])
        facts = {
            "nodes": sum(len(unit.b) for unit in units),
            INSTANCE: shared.aca(reactivation.predict_rows(units, shared.test_x)),
            WHOLE_TASK: shared.aca(grouped),
        }
        return Sample(seconds, facts)

    yield Row(
        "reactivation", "paper's learner, whole sequence", f"MNIST-10/5 ({len(shared.train_y):,} rows)",
        "numpy, same algorithm", ours, theirs, bar=5, multiply_adds=lambda _: work["multiply_adds"],
    )


def candidates_and_joins(growth, n_features, l=10, t_max=50):
    total = 0
    for unit in growth:
        rows, classes = unit["training_rows"], len(unit["classes"])
        for join in unit["layers"][0]["joins"]:
            total += rows * t_max * l * (n_features + classes + (l + 1) / 2)
            total += rows * l * (4 * (join["nodes"] - l) + 2 * classes)  # projected twice, out of the basis and e
    return total


# b. The memory.


def accumulation(bench):
    data = bench.cifar(quick=20)
    nodes, n_features = (500, 1280) if bench.quick else (5000, 1280)
    shared = bench.worker.share(data, "100/10")
    n_rows = len(shared.train_y)
    w = np.random.default_rng(0).standard_normal((n_features, nodes), np.float32)

    def ours():
        answer = bench.worker.ask("observe", data=data, params=gaussian(nodes), warm_rows=2048)
        return Sample(answer["seconds"])

    yield Row(
        "memory", f"memory of {nodes:,} Gaussian nodes takes in all rows",
        f"CIFAR-100 features ({n_rows:,} x {n_features})", "bare sgemm + ssyrk",
        ours, lambda: Sample(timed(lambda: blas.project_and_gram(shared.train_x, w))[0]),
        bar=1 / 1.25, multiply_adds=lambda _: n_rows * nodes * (n_features + (nodes + 1) / 2),
    )


# c. A whole sequence, with the ridge constant chosen after every task.


def sequence(bench):
    data, nodes = bench.cifar(quick=20), 300 if bench.quick else 5000
    shared = bench.worker.share(data, "100/10")
    lessons = shared.lessons()
    n_rows, n_features = shared.train_x.shape
    n_tasks, n_classes = len(shared.tasks), shared.n_classes

    def ours():
        return learn(bench, data, "100/10", "consolidation", gaussian(nodes), (INSTANCE,))[0]

    def theirs():
        seconds, model = timed(lambda: projection_head.learn(lessons, n_classes, nodes))
        return Sample(seconds, {"nodes": nodes, INSTANCE: shared.aca(projection_head.predict(model, shared.test_x))})

    solve = nodes**3 / 6 + nodes**2 * n_classes
    yield Row(
        "sequence", f"{nodes:,} Gaussian nodes, ridge constant chosen after every task",
        f"CIFAR-100/10 features ({n_rows:,} x {n_features})", "published recipe in numpy, 17 solves a task",
        ours, theirs, bar=5, at_most=3,
        multiply_adds=lambda _: n_rows * nodes * (n_features + (nodes + 1) / 2) + n_tasks * solve,
        note="work: products and one Cholesky solve a task",
    )


# d. Recruitment in Gram space.


def recruitment(bench):
    pool_nodes, max_nodes = (300, 60) if bench.quick else (3000, 680)
    pool = {"kind": "differences", "nodes": pool_nodes, "scale": 4.0, "activation": "sigmoid"}
    learn(bench, bench.mnist(quick=100), "10/5", "consolidation", {"pool": pool, "ridge": 1e-3}, keep="recruit")
    job = {"model": "recruit", "max_nodes": max_nodes}
    bench.worker.ask("recruit", share=str(bench.folder), **job)
    read = lambda name: np.fromfile(bench.folder / name, "<f8")
    counts = read("counts")
    moments = np.ascontiguousarray(read("moments").reshape(len(counts), -1).T)
    gram = read("gram").reshape(len(moments), -1)
    chosen = {}

    def ours():
        answer = bench.worker.ask("recruit", **job)
        chosen["ours"] = answer["nodes"]
        return Sample(answer["seconds"], {"nodes": len(answer["nodes"])})

    def theirs():
        seconds, nodes = timed(lambda: forward.recruit(gram, moments, counts, max_nodes))
        agreement = len(set(nodes) & set(chosen["ours"])) / max_nodes
        return Sample(seconds, {"nodes": len(nodes), "same nodes %": 100 * agreement})

    yield Row(
        "recruitment", f"{max_nodes} of {pool_nodes:,} nodes recruited in Gram space", "memory of MNIST",
        "numpy, same algorithm", ours, theirs, bar=3, note="aim: 100 ms",
        multiply_adds=lambda _: max_nodes * pool_nodes * (max_nodes / 2 + 2 * len(counts)),
    )


# e. Prediction.


def prediction(bench):
    small = {"kind": "uniform", "nodes": 680, "scope": 0.5, "activation": "sigmoid"}
    rows = 1000 if bench.quick else 10_000
    shapes = [(784, small, 680, 10, [rows, 64, 1])]
    if not bench.quick:
        shapes.append((1280, gaussian(5000)["pool"], 5000, 100, [rows, 64]))
    for n_features, pool, nodes, classes, sizes in shapes:
        name = f"{n_features} -> {nodes} -> {classes}"
        data = {"rows": rows, "features": n_features, "classes": classes}
        learn(bench, data, "1", "consolidation", {"pool": pool, "ridge": 1e-3}, keep=name)
        path = bench.folder / "model.onnx"
        bench.worker.ask("onnx", model=name, path=str(path))
        session = onnx.session(path)
        x = bench.worker.share(data, "1").test_x
        for n in sizes:
            yield prediction_of(bench, name, data, session, x[:n])


def prediction_of(bench, name, data, session, x):
    times = max(3, min(2000, 20_000 // len(x)))
    answered, work = {}, {}

    def ours():
        answer = bench.worker.ask("predict", model=name, data=data, part="test", rows=len(x), times=times)
        answered["ours"], work["a row"] = np.array(answer["predicted"]), answer["multiply_adds"]
        return Sample(answer["seconds"])

    def theirs():
        same = np.mean(onnx.predict(session, x) == answered["ours"])
        return Sample(onnx.median_seconds(session, x, times), {"same answers %": 100 * same})

    one = len(x) == 1
    return Row(
        f"predict-{len(x)}-{x.shape[1]}", f"predicting {len(x):,} row{'' if one else 's'} at a time, {name}",
        f"generated rows, median of {times} calls", "onnxruntime, same network", ours, theirs, bar=1,
        limit=60e-6 if one else None, multiply_adds=lambda _: len(x) * work["a row"],
    )


# f. Convolution.


def convolution(bench):
    images, learned = bench.mnist(quick=100), {"set": "mnist", "rows_per_class": 100}
    params = {"pool": {"kind": "convolution", "filters": 128}, "ridge": 1e-3}
    learn(bench, learned, "10/5", "consolidation", params, keep="convolution")
    path = bench.folder / "convolution.onnx"
    bench.worker.ask("onnx", model="convolution", path=str(path))
    session = onnx.session(path)
    x = bench.worker.share(images, "10/5").train_x
    batch = onnx.best_batch(session, x[:2048], [16, 64, 256, 1024])
    job = {"model": "convolution", "data": images, "part": "train", "rows": len(x), "times": 1}
    answered, work = {}, {}

    def ours():
        answer = bench.worker.ask("predict", **job)
        answered["ours"], work["a row"] = np.array(answer["predicted"]), answer["multiply_adds"]
        return Sample(answer["seconds"])

    def theirs():
        seconds, classes = timed(lambda: onnx.predict(session, x, batch))
        return Sample(seconds, {"same answers %": 100 * np.mean(classes == answered["ours"])})

    yield Row(
        "convolution", "convolutional pool of 128 filters, 2,048 nodes", f"MNIST ({len(x):,} images)",
        f"onnxruntime, same operators, its best batch ({batch})", ours, theirs, bar=1 / 1.5,
        multiply_adds=lambda _: len(x) * work["a row"],
    )


# g. Common libraries.

# The same kind of model as the peers': linear in the pixels.
LINEAR = {"pool": {"kind": "features", "preparation": "none"}, "readout": "lda"}
SMALL = {  # as in crates/autoactivator-exam/experiments/mnist-consolidation-small.toml
    "pool": {"kind": "convolution", "filters": 112, "sides": [7], "grid": 3, "overlap": 2},
    "readout": "lda",
    "shrinkage": 1e-4,
}
NEW_TASK, TEN_THOUSAND = "last task s", "10,000 predictions s"


def streaming(bench):
    data = bench.mnist(quick=200)
    shared = bench.worker.share(data, "10/5")
    lessons, rows = shared.lessons(), f"MNIST-10/5 ({len(shared.train_y):,} rows)"
    linear, small = streamed(bench, data, LINEAR), streamed(bench, data, SMALL)

    def fitted(fit):
        def theirs():
            sample, model = one_after_the_other(fit(lessons, shared.n_classes))
            sample.facts[TEN_THOUSAND], predicted = timed(lambda: model.predict(shared.test_x))
            sample.facts[INSTANCE] = shared.aca(predicted)
            return sample

        return theirs

    what = "consolidation of {}, whole sequence"
    sgd, lda = "scikit-learn SGDClassifier.partial_fit", "scikit-learn LDA, fitted to all rows so far"
    yield Row("sgd", what.format("pixels"), rows, sgd, linear, fitted(streams.sgd))
    yield Row("lda", what.format("pixels"), rows, lda, linear, fitted(streams.lda), at_most=3)
    yield Row("sgd-small", what.format("112 filters"), rows, sgd, small, fitted(streams.sgd))
    yield river(bench, what.format("pixels"))


def streamed(bench, data, params):
    def ours():
        sample, answer = learn(bench, data, "10/5", "consolidation", params, (INSTANCE,), keep="streaming")
        job = {"model": "streaming", "data": data, "part": "test", "rows": 10_000, "times": 1}
        sample.facts[NEW_TASK] = answer["task_seconds"][-1]
        sample.facts[TEN_THOUSAND] = bench.worker.ask("predict", **job)["seconds"]
        return sample

    return ours


def one_after_the_other(models):
    """The last model. All tasks are timed together, and the last one also on its own."""
    taken = []
    while True:
        seconds, following = timed(lambda: next(models, None))
        if following is None:
            return Sample(sum(taken), {NEW_TASK: taken[-1]}), model
        taken.append(seconds)
        model = following


def river(bench, what):
    """river learns row by row, so a few thousand rows are enough to show its rate."""
    data = {"set": "mnist", "rows_per_class": 20 if bench.quick else 300}
    shared = bench.worker.share(data, "10/5")
    lessons = [(streams.as_dictionaries(x), y) for x, y in shared.lessons()]
    asked = np.arange(0, len(shared.test_y), 10)
    questions, targets = streams.as_dictionaries(shared.test_x[asked]), shared.test_y[asked]
    n_rows = len(shared.train_y)

    def theirs():
        sample, model = one_after_the_other(streams.softmax(lessons, shared.n_classes))
        seconds, predicted = timed(lambda: [model.predict_one(row) for row in questions])
        sample.facts[TEN_THOUSAND] = 10_000 * seconds / len(asked)
        sample.facts[INSTANCE] = 100 * float(np.mean(predicted == targets))
        sample.facts["rows learned a second"] = n_rows / sample.seconds
        return sample

    def ours():
        sample = streamed(bench, data, LINEAR)()
        sample.facts["rows learned a second"] = n_rows / sample.seconds
        return sample

    rows = f"MNIST-10/5 ({n_rows:,} rows; the peer is examined on every tenth test row)"
    return Row("river", what, rows, "river SoftmaxRegression, row by row", ours, theirs)


# h. Linear growth.


def growth(bench):
    nodes = 300 if bench.quick else 2000
    most = 40 if bench.quick else 500
    for times in (1, 2, 4, 8):
        data = {"set": "cifar100-lite0", "rows_per_class": most * times // 8}
        yield Growth(
            "rows", f"memory of {nodes:,} nodes takes in rows", f"CIFAR-100 features, {times}x", "row",
            100 * most * times // 8, lambda data=data: observed(bench, data, nodes),
        )
    # No unit stops early here, so that the work per row is the same at every size.
    settings = {"l_max": 50, "expected_accuracy": 1.0, "patience": 1000}
    most = 160 if bench.quick else 5400
    for times in (1, 2, 4, 8):
        data = {"set": "mnist", "rows_per_class": most * times // 8}
        yield Growth(
            "rows", "paper's learner, 50 nodes a unit", f"MNIST-10/5, {times}x", "row",
            10 * most * times // 8,
            lambda data=data: learn(bench, data, "10/5", "reactivation", settings)[0],
        )
    data = bench.cifar(quick=20)
    for tasks in (5, 25, 100):
        yield Growth(
            "tasks", f"consolidation, {nodes:,} nodes, ridge constant chosen after every task",
            f"CIFAR-100/{tasks}, features", "task", tasks,
            lambda tasks=tasks: learn(bench, data, str(tasks), "consolidation", gaussian(nodes))[0],
        )


def observed(bench, data, nodes):
    answer = bench.worker.ask("observe", data=data, params=gaussian(nodes), warm_rows=256)
    return Sample(answer["seconds"])


COMPARISONS = {  # name: what makes its rows, and the data sets it needs
    "reactivation": (paper, ["mnist"]),
    "memory": (accumulation, ["cifar100-lite0"]),
    "sequence": (sequence, ["cifar100-lite0"]),
    "recruitment": (recruitment, ["mnist"]),
    "prediction": (prediction, []),
    "convolution": (convolution, ["mnist"]),
    "streaming": (streaming, ["mnist"]),
    "growth": (growth, ["cifar100-lite0", "mnist"]),
    "teach": (lessons, []),
}
