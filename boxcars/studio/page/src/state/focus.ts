/** Keyboard focus: from a box on the canvas into its panel, and back. */

import { useDoc } from "./doc";

const FIRST = ".inspector input, .inspector select";
/** Elements in which keys do not act on the drawing. */
const PANEL = ".inspector, .dock, .data";

let inPanel = false;

/** Remember the last location: removing the focused element moves the focus to the body. */
function note(event: Event): void {
  if (event.target instanceof Element) inPanel = event.target.closest(PANEL) !== null;
}
window.addEventListener("pointerdown", note, true);
window.addEventListener("focusin", note, true);

/** Whether a key is pressed in a panel, or right after an action in one. */
export const isInPanel = (target: EventTarget | null): boolean =>
  target instanceof Element && target !== document.body ? target.closest(PANEL) !== null : inPanel;

/** Focus the first field of the panel, once it is rendered. */
export function focusPanel(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>(FIRST);
    field?.focus();
    if (field instanceof HTMLInputElement) field.select();
  });
}

/** Leave the panel, and focus its box on the canvas. */
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
