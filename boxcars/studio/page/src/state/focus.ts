/** The focus of the keyboard: from a box on the canvas into its panel, and back. */

import { useDoc } from "./doc";

const FIRST = ".inspector input, .inspector select";
/** Where keys are for what stands there, and not for the drawing. */
const PANEL = ".inspector, .dock, .data";

let inPanel = false;

/** Remember where the person is: an element that goes takes the focus with it, to nowhere. */
function note(event: Event): void {
  if (event.target instanceof Element) inPanel = event.target.closest(PANEL) !== null;
}
window.addEventListener("pointerdown", note, true);
window.addEventListener("focusin", note, true);

/** Whether a key is pressed in a panel, or right after something was done in one. */
export const isInPanel = (target: EventTarget | null): boolean =>
  target instanceof Element && target !== document.body ? target.closest(PANEL) !== null : inPanel;

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
