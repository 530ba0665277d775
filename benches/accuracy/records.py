"""One JSON file for each result, so that a run can be stopped and taken up again."""

import json
import os


class Records:
    def __init__(self, folder, again=()):
        self.folder = folder
        self.again = set(again)  # entrants whose old records do not count

    def get(self, place, entrant, version, work):
        """The record at a place, such as ("segment", "10", "order-0"); `work` makes it if there is none."""
        path = self.folder.joinpath(*place, f"{entrant}.json")
        if path.exists() and entrant not in self.again:
            record = json.loads(path.read_text())
            if record["version"] == version:
                return record
        record = {"place": list(place), "entrant": entrant, "version": version, **work()}
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(record, indent=1))
        os.replace(unfinished, path)
        return record
