// @ts-check
/** The notebook's host of the sphere: Python weighs, and is asked for changes. */
import { createSphere } from "./sphere.js";

export default {
  render({ model, el }) {
    const figure = document.createElement("figure");
    figure.className = "explorer mounted";
    el.append(figure);
    // Only the newest request waits while Python is at work.
    const act = (change) => {
      model.set("asked", { ...change, at: performance.now() });
      model.save_changes();
    };
    const view = createSphere(figure, model.get("strings"), model.get("lengths"), act);
    const draw = () => (view.update(model.get("now")), view.say(model.get("now").message));
    model.on("change:now", draw);
    draw();
    return () => {
      model.off("change:now", draw);
      view.destroy();
    };
  },
};
