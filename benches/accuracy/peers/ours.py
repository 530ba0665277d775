"""Our side: the wheel with its default parameters. It is imported only when it takes part."""

import hashlib
import importlib.util
import tempfile
from pathlib import Path

import numpy as np

from .base import Entrant


class AutoActivator(Entrant):
    label = "**AutoActivator**"
    keeps = "sums, and up to 4,096 rows"

    def __init__(self, setting, **parameters):
        super().__init__(setting)
        from autoactivator import Consolidation

        if setting.image:
            parameters["image"] = setting.image
        self.model = Consolidation(seed=setting.seed, **parameters)

    def learn(self, x, y):
        self.saw(y)
        self.model.partial_fit(x, y)

    def proba(self, x):
        return self.model.predict_proba(x)

    def strange(self, x):
        return 1 - self.model.known(x)

    def rejects(self, x, share):
        return np.array([answer is None for answer in self.model.predict(x, reject=share)])

    def megabytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.aact"
            self.model.save(path)
            return path.stat().st_size / 1e6

    @classmethod
    def version(cls):
        """A digest of the installed wheel: after a change of the method its old records do not count."""
        found = importlib.util.find_spec("autoactivator")
        if found is None:
            raise ModuleNotFoundError("the wheel is not installed: `pip install ./python`")
        package = Path(found.origin).parent
        digest = hashlib.sha256()
        for path in sorted(path for path in package.rglob("*") if path.suffix in (".py", ".so", ".pyd")):
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]
