// Which task did each class come with? `Tasks` is computed from the growth record; their order follows from it.

const byName = new Intl.Collator('en', { numeric: true }).compare;

export class Tasks {
  #taskOf = new Map();

  /** `growth` is the server's record. A class that was undone and taught again belongs to its last task. */
  constructor(growth = []) {
    growth.forEach(({ task, new_classes }, i) => {
      for (const name of new_classes ?? []) this.#taskOf.set(name, task ?? i + 1);
    });
  }

  of(name) {
    return this.#taskOf.get(name) ?? 1;
  }

  /** Classes by task, and by name within one. */
  sorted(classes) {
    return [...classes].sort((a, b) => this.of(a) - this.of(b) || byName(a, b));
  }

  /** The result of the exam, with every known class counted under its task. */
  examined(exam) {
    const known = exam.classes.filter((one) => one.known);
    const numbers = [...new Set(known.map((one) => this.of(one.class)))].sort((a, b) => a - b);
    const tasks = numbers.map((task) => {
      const own = known.filter((one) => this.of(one.class) === task);
      const sum = (key) => own.reduce((total, one) => total + one[key], 0);
      return {
        task,
        classes: this.sorted(own.map((one) => one.class)),
        rows: sum('rows'),
        right: sum('right'),
      };
    });
    return { ...exam, tasks };
  }
}
