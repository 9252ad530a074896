/** The keyboard. */

import { copySelected, cutSelected, groupSelected, nudge, pasteCopied, GRID } from "./actions";
import { removeSelected, selectAll, tidyUp } from "./actions";
import { useAsking } from "./asking";
import { leaveTo, redo, select, selectArc, undo, useDoc } from "./doc";
import { focusedOn, focusPanel, isInPanel, leavePanel } from "./focus";
import { seeAll } from "./flow";
import { leaveScope, useRuns } from "./runs";
import { save } from "./saving";
import { MODES, openDialog, setMode, setSubquery, useStudio, type Mode } from "./studio";

/** The keys shown in the help. */
export const KEYS: [string, string][] = [
  ["Ctrl K", "search boxes, commands and files"],
  ["Ctrl S", "save"],
  ["Ctrl O", "open"],
  ["Ctrl Z / Ctrl Y", "undo / redo"],
  ["Ctrl C / X / V", "copy / cut / paste"],
  ["Ctrl A", "select all"],
  ["Shift drag", "select an area"],
  ["Ctrl click", "add to the selection"],
  ["Ctrl G", "group the selection into a superbox"],
  ["Arrows", "move the selection"],
  ["Delete", "delete the selection"],
  ["Tab, Enter", "go to the next box or arrow, into its panel"],
  ["L / F", "lay out / fit to view"],
  ["1 to 4", "compose, preview, plan, watch"],
  ["Escape", "leave the panel, close charts, clear the selection, leave a superbox"],
  ["?", "this help"],
];

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-GRID, 0],
  ArrowRight: [GRID, 0],
  ArrowUp: [0, -GRID],
  ArrowDown: [0, GRID],
};

/** With Ctrl or Cmd, wherever the focus is. */
const ANYWHERE: Record<string, () => void> = {
  k: () => openDialog("commands"),
  s: () => void save(),
  o: () => openDialog("open"),
};

const WITH_CTRL: Record<string, () => void> = {
  z: undo,
  y: redo,
  Z: redo,
  c: copySelected,
  x: cutSelected,
  v: pasteCopied,
  a: selectAll,
  g: () => void groupSelected(),
};

const ALONE: Record<string, () => void> = {
  Delete: removeSelected,
  Backspace: removeSelected,
  l: () => void tidyUp().then(seeAll),
  f: seeAll,
};

/** Clear the selection, or leave the open superbox. */
function leaveDrawing(): void {
  const { selection, arc, scope } = useDoc.getState();
  if (selection.length || arc !== null) {
    select([]);
    selectArc(null);
  } else if (scope.length) leaveTo(scope.length - 1);
}

/** Close the charts of a box, or leave the open superbox of a run. */
function leaveRun(): void {
  const { box, arc, scope } = useRuns.getState();
  if (box !== null || arc !== null) useRuns.setState({ box: null, arc: null });
  else if (scope.length) leaveScope(scope.length - 1);
}

const ESCAPES: Record<Mode, () => void> = {
  compose: leaveDrawing,
  preview: leaveDrawing,
  plan: () => setSubquery(null),
  watch: leaveRun,
};

/** Open the box or arrow with the keyboard focus. */
function enter(): void {
  const { mode } = useStudio.getState();
  const [node, edge] = [focusedOn("node"), focusedOn("edge")];
  if (mode === "watch" || mode === "plan")
    document.activeElement?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  else if (node !== undefined) select([node]);
  else if (edge !== undefined) selectArc(edge);
  if (mode === "compose") focusPanel();
}

export function onKey(event: KeyboardEvent): void {
  const { mode, dialog } = useStudio.getState();
  const ctrl = event.ctrlKey || event.metaKey;
  const run = (work: (() => void) | undefined): void => {
    if (!work) return;
    event.preventDefault();
    work();
  };
  if (useAsking.getState().question) return;
  if (ctrl && ANYWHERE[event.key]) {
    run(ANYWHERE[event.key]);
    return;
  }
  const inPanel = event.target instanceof Element && event.target.closest(".inspector") !== null;
  if (event.key === "Escape" && inPanel && isTyping(event.target) && !event.defaultPrevented)
    run(leavePanel);
  if (isTyping(event.target) || dialog !== null) return;
  if (event.key === "Escape") run(ESCAPES[mode]);
  if (isInPanel(event.target) && !ctrl) return;
  if (event.key === "?") run(() => openDialog("help"));
  const number = Number(event.key);
  const there = MODES[number - 1];
  if (!ctrl && there) run(() => setMode(there));
  const onCanvas = focusedOn("node") !== undefined || focusedOn("edge") !== undefined;
  if ((event.key === "Enter" || event.key === " ") && onCanvas) run(enter);
  if (mode !== "compose") return;
  if (ctrl) run(WITH_CTRL[event.key]);
  else if (ARROWS[event.key] && useDoc.getState().selection.length) {
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    run(() => nudge(dx, dy));
  } else run(ALONE[event.key]);
}
