// @ts-check
/** The notebook's host: the state comes from Python's traits, and changes are asked of Python. */
import { createView } from "./view.js";

/** Python's names of the arrays, which travel as bytes. */
const floats = (value) => (value instanceof DataView ? new Float64Array(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength)) : value);
const unpack = (value) =>
  value && value.constructor === Object ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, floats(part)])) : floats(value);

export default {
  render({ model, el }) {
    const figure = document.createElement("figure");
    figure.className = "explorer mounted";
    el.append(figure);
    const names = model.get("names");
    /** Unpack each trait once, so that the view sees which have changed. */
    const kept = {};
    const state = () => {
      const next = {};
      for (const name of names) {
        const raw = model.get("now_" + name);
        if (!kept[name] || kept[name].raw !== raw) kept[name] = { raw, value: unpack(raw) };
        next[name] = kept[name].value;
      }
      return next;
    };
    // A drag asks by trait: while Python is at work, only the newest request waits. Adding and removing must not be lost.
    const act = (change) => {
      if ("add" in change || "remove" in change) return model.send(change);
      model.set("asked", { ...change, at: performance.now() });
      model.save_changes();
    };
    const view = createView(figure, /** @type {any} */ (state()), act);
    let due = false;
    const draw = () => {
      if (!due) due = Boolean(Promise.resolve().then(() => ((due = false), view.update(/** @type {any} */ (state())))));
    };
    const table = () => view.toggleTable();
    model.on("change", draw);
    model.on("msg:custom", table);
    view.start();
    return () => {
      model.off("change", draw);
      model.off("msg:custom", table);
      view.destroy();
    };
  },
};
