"""A model on a server, used like a local one: the same methods and the same exceptions, over HTTP.

:class:`Client` talks to ``autoactivator serve``. It sends JSON, or the bytes of images and model files. For that it
needs only the standard library.
"""

import http.client
import json
import os
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias
from urllib.parse import quote, urlsplit

import numpy as np
from numpy.typing import NDArray

from . import discovery, error, rows, text
from .learner import Learned
from .rows import fraction
from .snapshot import KINDS
from .types import File, Found, Label, Labels, LabelType, Weights
from .types import Rows as Arrays

Rows: TypeAlias = Arrays | Sequence[File]
"""Rows, sentences, or image files."""

Body: TypeAlias = tuple[str, bytes]
"""The content type of a body, and the body."""


class Client:
    """A model on a server.

    Rows are arrays. If the server's model takes images, rows may also be a list of image files: paths, or the bytes of
    each. If it takes sentences, they are a list of strings.

    Parameters
    ----------
    url : str
        Address of the server, such as ``"http://127.0.0.1:7878"``.
    token : str or None, default=None
        The token that the server requires, if any: the read token is enough to ask.
    label_type : {None, int, float, bool, str}, default=None
        Type of the labels: a server knows only names. None means integers if all names are whole numbers.
    timeout : float, default=120.0
        Seconds to wait for an answer.

    Attributes
    ----------
    learned_ : dict
        What was understood of the last task, as for a local model.

    Examples
    --------
    >>> from autoactivator import Client
    >>> client = Client("http://127.0.0.1:7878")
    >>> client.partial_fit([[0.0, 0.1], [0.9, 1.0]], ["low", "high"])  # doctest: +SKIP
    >>> client.predict([[0.95, 0.95]])  # doctest: +SKIP
    array(['high'], dtype='<U4')
    """

    learned_: Learned

    def __init__(
        self, url: str, token: str | None = None, label_type: LabelType = None, timeout: float = 120.0
    ) -> None:
        self.url = url
        self.token = token
        self.label_type = label_type
        self.timeout = timeout

    def partial_fit(
        self, X: Rows, y: Labels, classes: object = None, sample_weight: Weights | None = None
    ) -> Self:
        """Learn one more task. When this returns, it is on the server's disk.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of path-like, bytes or str
            Rows, images or sentences.
        y : array-like of shape (n_samples,)
            Their labels, new or known.
        classes : ignored
            Accepted so that programs written for scikit-learn keep working.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            How often each row counts; not for images.

        Returns
        -------
        self : object
            The client.

        Examples
        --------
        >>> from autoactivator import Client
        >>> client = Client("http://127.0.0.1:7878")
        >>> client.partial_fit(["5a.png", "5b.png"], [5, 5])  # doctest: +SKIP
        """
        changed = json.loads(self._send("POST", "/v1/learn", *self._lesson(X, y, sample_weight)))
        self.learned_ = Learned(summary=changed["summary"], **changed["learned"])
        self.learned_.warn()
        return self

    def unlearn(self, X: Rows, y: Labels, sample_weight: Weights | None = None) -> Self:
        """Unlearn rows: afterwards the memory is what it would have been without them.

        A class with no rows left is no longer known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of path-like, bytes or str
            Rows, images or sentences that were learned.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            The weights that they were learned with.

        Returns
        -------
        self : object
            The client.

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").unlearn([[0.9, 1.0]], ["high"])  # doctest: +SKIP
        """
        self._send("POST", "/v1/unlearn", *self._lesson(X, y, sample_weight))
        return self

    def drop_class(self, label: Label) -> Self:
        """Forget a class.

        Parameters
        ----------
        label : str or int
            Its label.

        Returns
        -------
        self : object
            The client.

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").drop_class(5)  # doctest: +SKIP
        """
        self._send("DELETE", "/v1/classes/" + quote(rows.name(label), safe=""))
        return self

    def rename_class(self, old: Label, new: Label) -> Self:
        """Rename a class; everything learned about it stays.

        Parameters
        ----------
        old : str or int
            Its label.
        new : str or int
            Its new name, which no other class may have.

        Returns
        -------
        self : object
            The client.

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").rename_class(5, "five")  # doctest: +SKIP
        """
        address = "/v1/classes/" + quote(rows.name(old), safe="") + "/rename"
        self._send("POST", address, "application/json", json.dumps({"name": rows.name(new)}).encode())
        return self

    def merge(self, other: File, base: File | None = None) -> Self:
        """Add everything that another model over the same pool has learned.

        Parameters
        ----------
        other : bytes or path-like
            Its model file.
        base : bytes, path-like or None, default=None
            The model file that both started from, so that what it had learned counts only once.

        Returns
        -------
        self : object
            The client.

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").merge("theirs.aact", base="base.aact")  # doctest: +SKIP
        """
        fields = [("model", _content(other))]
        if base is not None:
            fields.append(("base", _content(base)))
        self._send("POST", "/v1/merge", *_form(fields))
        return self

    def predict(self, X: Rows, reject: float | str = 0.0) -> Found:
        """Predict the label of each row, judged alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of path-like, bytes or str
            Rows, images or sentences.
        reject : float or str, default=0.0
            Answer None for rows that look like nothing learned; this is the fraction of known rows that would be
            rejected, as a number or as text such as ``"5%"``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels. If `reject` is above 0, the dtype is object, and None means "none of the known classes".

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").predict([[0.95, 0.95]])  # doctest: +SKIP
        array(['high'], dtype='<U4')
        """
        reject = fraction("reject", reject)
        found = [answer["class"] for answer in self._ask(X, {"reject": reject})]
        labels = self._by_name({name for name in found if name is not None})
        return np.array([labels.get(name) for name in found], dtype=object if reject > 0 else None)

    def discover(self, X: Rows) -> discovery.Groups:
        """Find new classes: group rows that look like no known class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of path-like, bytes or str
            Rows, images or sentences.

        Returns
        -------
        autoactivator.discovery.Groups
            The groups, and for each row the name of its group, or None.

        Examples
        --------
        >>> from autoactivator import Client
        >>> len(Client("http://127.0.0.1:7878").discover([[0.95, 0.95]]))  # doctest: +SKIP
        0
        """
        found = self._post("/v1/discover", X, {})
        names = [row["group"] for row in found["rows"]]
        return discovery.groups(found["groups"], names, self._by_name)

    def unknown(self) -> discovery.Kept:
        """Group the rows that the server has kept because it answered "unknown" to them.

        It keeps them if it was started with ``--keep-unknown``. This needs the server's token, if it has one.

        Returns
        -------
        autoactivator.discovery.Kept
            The groups, and the rows that are in none.

        Examples
        --------
        >>> from autoactivator import Client
        >>> len(Client("http://127.0.0.1:7878").unknown())  # doctest: +SKIP
        0
        """
        return discovery.kept(json.loads(self._send("GET", "/v1/unknown/groups")), self._by_name)

    def name_unknown(self, ids: Sequence[str], label: Label) -> Self:
        """Learn rows that the server has kept. When this returns, it is on the server's disk, and they are kept no longer.

        Parameters
        ----------
        ids : list of str
            The rows, such as those of a group of :meth:`unknown`. Those that are gone already are left out.
        label : str or int
            Their label, new or known.

        Returns
        -------
        self : object
            The client.

        Examples
        --------
        >>> from autoactivator import Client
        >>> client = Client("http://127.0.0.1:7878")
        >>> client.name_unknown(client.unknown()[0].ids, "robin")  # doctest: +SKIP
        """
        body = _json({"ids": list(ids), "class": rows.name(label)})
        changed = json.loads(self._send("POST", "/v1/unknown/learn", *body))
        self.learned_ = Learned(summary=changed["summary"], **changed["learned"])
        self.learned_.warn()
        return self

    def dismiss_unknown(self, ids: Sequence[str] | None = None) -> int:
        """Let the server forget rows that it has kept.

        Parameters
        ----------
        ids : list of str or None, default=None
            The rows; None means all.

        Returns
        -------
        int
            Number of rows that were kept and are no longer.

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").dismiss_unknown()  # doctest: +SKIP
        14
        """
        if ids is None:
            answer = self._send("DELETE", "/v1/unknown")
        else:
            answer = self._send("POST", "/v1/unknown/dismiss", *_json({"ids": list(ids)}))
        return json.loads(answer)["dismissed"]

    def predict_proba(self, X: Rows) -> NDArray[np.float64]:
        """Predict the probability of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of path-like, bytes or str
            Rows, images or sentences.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, with columns in the order of ``classes_``.

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").predict_proba([[0.95, 0.95]])  # doctest: +SKIP
        array([[0.97, 0.03]])
        """
        found = [answer["probabilities"] for answer in self._ask(X, {"proba": True})]
        labels = self._by_name(found[0].keys())
        names = sorted(found[0], key=lambda name: labels[name])
        rounded = np.array([[probabilities[name] for name in names] for probabilities in found])
        # The server rounds them to single precision.
        return rounded / rounded.sum(axis=1, keepdims=True)

    def download(self, what: str = "memory") -> bytes:
        """Download the model as a file.

        Parameters
        ----------
        what : {"memory", "model", "onnx"}, default="memory"
            The model file with its memory, the deployed model alone, or the deployed model as ONNX.

        Returns
        -------
        bytes
            The content of the file. :func:`autoactivator.load` reads the first two kinds once saved.

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").download("onnx")  # doctest: +SKIP
        """
        if what not in ("memory", "model", "onnx"):
            raise error.ParameterError(f"parameter `what` is {what!r}: must be memory, model or onnx")
        return self._send("GET", f"/v1/download/{what}")

    @property
    def classes_(self) -> Found:
        """All labels learned so far, sorted.

        Returns
        -------
        ndarray of shape (n_classes,)
            The labels.

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").classes_  # doctest: +SKIP
        array([0, 1, 2, 3, 4])
        """
        return np.sort(self._labels(self._names()))

    @property
    def growth_(self) -> list[dict[str, Any]]:
        """How the model grew: one record per task, as for the estimators.

        Returns
        -------
        list of dict
            The records.

        Examples
        --------
        >>> from autoactivator import Client
        >>> Client("http://127.0.0.1:7878").growth_  # doctest: +SKIP
        """
        return json.loads(self._send("GET", "/v1/growth"))["growth"]

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    # Internals.

    def _names(self) -> list[str]:
        return [found["class"] for found in json.loads(self._send("GET", "/v1/classes"))["classes"]]

    def _by_name(self, answered: Iterable[str]) -> dict[str, Any]:
        """The label of each class by name, including classes in an answer that were dropped since."""
        names = list(dict.fromkeys([*self._names(), *answered]))
        return dict(zip(names, self._labels(names).tolist(), strict=True))

    def _labels(self, names: Sequence[str]) -> NDArray[Any]:
        return rows.named(names, KINDS.get(self.label_type))

    def _takes_texts(self, X: Any) -> bool:
        """Whether X is to be sent as sentences; a list of strings may also be one of files."""
        if not isinstance(X, (list, tuple)):
            return text.sentences(X) is not None
        if not len(X) or not isinstance(X[0], str):
            return False
        return json.loads(self._send("GET", "/v1/model"))["takes"] == "texts"

    def _ask(self, X: Any, options: dict[str, Any]) -> Any:
        return self._post("/v1/predict", X, options)["answers"]

    def _post(self, path: str, X: Any, options: dict[str, Any]) -> Any:
        """Asks about rows, images or sentences."""
        if self._takes_texts(X):
            asked = _json({"texts": text.sentences(X), **options})
        elif _are_images(X):
            fields = [("image", _content(image)) for image in X]
            asked = _form(fields + [(name, json.dumps(value).encode()) for name, value in options.items()])
        else:
            asked = _json({**_named_rows(X), **options})
        return json.loads(self._send("POST", path, *asked))

    def _lesson(self, X: Any, y: Labels, sample_weight: Weights | None) -> Body:
        return _lesson(X, y, sample_weight, self._takes_texts(X))

    def _send(self, method: str, path: str, content_type: str | None = None, body: bytes | None = None) -> bytes:
        """Sends one request, and raises the exception that the server reports."""
        url = urlsplit(self.url)
        kind = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}.get(url.scheme)
        if kind is None or url.hostname is None:
            raise error.ParameterError(f"parameter `url` is {self.url!r}: must be like http://127.0.0.1:7878")
        headers = {"Content-Type": content_type} if content_type else {}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        connection = kind(url.hostname, url.port, timeout=self.timeout)
        try:
            connection.request(method, url.path.rstrip("/") + path, body=body, headers=headers)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        if response.status != 200:
            raise _problem(response, content)
        return content


def _problem(response: http.client.HTTPResponse, content: bytes) -> Exception:
    """The exception for an answer that reports an error."""
    try:
        problem = json.loads(content)["error"]
        kind, message = problem["kind"], problem["message"]
    except (ValueError, KeyError, TypeError):
        kind, message = "", f"the server answers {response.status} {response.reason}"
    known = getattr(error, f"{kind}Error", None)
    if known is not None:
        return known(message)
    wait = response.getheader("Retry-After")
    return error.ServerError(message, kind, response.status, None if wait is None else float(wait))


def _lesson(X: Any, y: Labels, sample_weight: Weights | None, as_texts: bool) -> Body:
    distinct, codes = rows.labels(y)
    names = rows.names(distinct)
    classes = [names[code] for code in codes]
    if as_texts:
        weights = _weights(sample_weight, len(classes))
        return _json({"texts": text.sentences(X), "classes": classes, "weights": weights})
    if not _are_images(X):
        return _json({**_named_rows(X), "classes": classes, "weights": _weights(sample_weight, len(classes))})
    if sample_weight is not None:
        raise error.ParameterError("parameter `sample_weight` is given for images: send rows, or images without it")
    if len(X) != len(classes):
        message = f"{len(X)} rows but {len(classes)} labels: each row needs exactly one label"
        raise error.LengthMismatchError(message)
    fields = []
    for image, name in zip(X, classes, strict=True):
        fields += [("class", name.encode()), ("image", _content(image))]
    return _form(fields)


def _weights(sample_weight: Weights | None, n_rows: int) -> list[float] | None:
    """Weights as a list. JSON has only finite numbers; the message is the method's own."""
    weights = rows.weights(sample_weight, n_rows)
    if weights is None:
        return None
    wrong = np.flatnonzero(~np.isfinite(weights))
    if len(wrong):
        value = "NaN" if np.isnan(weights[wrong[0]]) else str(weights[wrong[0]])
        remedy = "a weight says how often the row counts; make it a number from 0 to 1e15"
        raise error.BadWeightError(f"row {wrong[0]} weighs {value}: {remedy}")
    return weights.tolist()


def _named_rows(X: Any) -> dict[str, Any]:
    """Rows, with the names of their columns if they have any."""
    names = rows.columns(X)
    return {"rows": _finite(rows.rows(X)), **({} if names is None else {"features": names})}


def _are_images(X: Any) -> bool:
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], (str, bytes, os.PathLike))


def _content(file: File) -> bytes:
    return file if isinstance(file, bytes) else Path(file).read_bytes()


def _finite(x: NDArray[np.float32]) -> list[list[float]]:
    """Rows as lists. JSON has only finite numbers; the message is the method's own."""
    places = np.argwhere(~np.isfinite(x))
    if len(places):
        row, feature = places[0]
        value = "NaN" if np.isnan(x[row, feature]) else str(x[row, feature])
        remedy = "remove the row or replace the value with a finite one"
        raise error.NotFiniteError(f"row {row}, feature {feature} is {value}: {remedy}")
    return x.tolist()


def _json(body: dict[str, Any]) -> Body:
    return "application/json", json.dumps(body).encode()


def _form(fields: list[tuple[str, bytes]]) -> Body:
    boundary = uuid.uuid4().hex
    head = 'Content-Disposition: form-data; name="{}"'
    parts = [
        b"\r\n".join([b"--" + boundary.encode(), head.format(name).encode(), b"", content]) for name, content in fields
    ]
    body = b"\r\n".join([*parts, b"--" + boundary.encode() + b"--", b""])
    return f"multipart/form-data; boundary={boundary}", body
