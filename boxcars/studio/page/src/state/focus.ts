/** The focus of the keyboard: from a box on the canvas into its panel, and back. */

import { useDoc } from "./doc";

const FIRST = ".inspector input, .inspector select";

/** Go to the first field of the panel, once it is there. */
export function focusPanel(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>(FIRST);
    field?.focus();
    if (field instanceof HTMLInputElement) field.select();
  });
}

/** Be done with a field of the panel, and go to the box on the canvas that it describes. */
export function leavePanel(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  requestAnimationFrame(() => {
    const [id] = useDoc.getState().selection;
    if (id === undefined) return;
    document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus();
  });
}

/** The box or the arrow that has the focus, by its id on the canvas. */
export function focusedOn(kind: "node" | "edge"): string | undefined {
  const found = document.activeElement?.closest<HTMLElement | SVGElement>(`.react-flow__${kind}`);
  return found?.dataset["id"];
}
