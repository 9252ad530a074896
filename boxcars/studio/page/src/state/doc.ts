/** The edited document: the network, the positions of its boxes, and its history. */

import { create } from "zustand";

import {
  bodyAt,
  placeKey,
  withBody,
  type Body,
  type Network,
  type Positions,
  type Scope,
  type Step,
} from "../model/network";

export interface Doc {
  network: Network;
  positions: Positions;
}

const EMPTY: Doc = { network: { name: "untitled" }, positions: {} };
/** Undo steps. */
const KEPT = 200;
/** Milliseconds; faster changes of one field are one undo step. */
const TYPING = 1200;

interface DocState {
  doc: Doc;
  file: string | null;
  /** The version of the open file, as reported by the studio. */
  version: string;
  /** The names of this drawing in runs: its files, its template, or a generated name. */
  origins: readonly string[];
  saved: Doc;
  past: Doc[];
  future: Doc[];
  scope: Scope;
  selection: readonly string[];
  arc: string | null;
  /** The key and time of the last change: typing in one field is one undo step. */
  last: { key: string; at: number };
  /** Number of documents opened so far. */
  opened: number;
}

const initial: DocState = {
  doc: EMPTY,
  file: null,
  version: "",
  origins: [],
  saved: EMPTY,
  past: [],
  future: [],
  scope: [],
  selection: [],
  arc: null,
  last: { key: "", at: 0 },
  opened: 0,
};

export const useDoc = create<DocState>(() => initial);

const { getState: get, setState: set } = useDoc;

/** Change the document; changes with the same key in quick succession are undone together. */
export function change(edit: (doc: Doc) => Doc, key = ""): void {
  const { doc, past, last } = get();
  const next = edit(doc);
  if (next === doc) return;
  const now = Date.now();
  const joined = key !== "" && key === last.key && now - last.at < TYPING;
  set({
    doc: next,
    past: joined ? past : [...past.slice(-KEPT), doc],
    future: [],
    last: { key, at: now },
  });
  leaveLostScope();
}

/** Change the body of the open canvas. */
export function changeBody(edit: (body: Body) => Body, key = ""): void {
  change((doc) => {
    const { scope } = get();
    const body = bodyAt(doc.network, scope);
    if (!body) return doc;
    const next = edit(body);
    return next === body ? doc : { ...doc, network: withBody(doc.network, scope, next) };
  }, key);
}

/** Move items; part of the previous change if that has the same key. */
export function move(places: Positions, key = ""): void {
  change((doc) => {
    const moved = Object.entries(places).map(([id, [x, y]]) => [
      placeKey(get().scope, id),
      [Math.round(x), Math.round(y)] as [number, number],
    ]);
    return {
      ...doc,
      positions: { ...doc.positions, ...(Object.fromEntries(moved) as Positions) },
    };
  }, key);
}

/** Set initial positions: neither an undo step nor an unsaved change. */
export function place(positions: Positions): void {
  const { doc, saved } = get();
  const next = { ...doc, positions };
  set({ doc: next, saved: saved === doc ? next : saved });
}

export function undo(): void {
  const { past, doc, future } = get();
  const before = past.at(-1);
  if (!before) return;
  set({ doc: before, past: past.slice(0, -1), future: [doc, ...future], last: initial.last });
  leaveLostScope();
}

export function redo(): void {
  const { past, doc, future } = get();
  const [after] = future;
  if (!after) return;
  set({ doc: after, past: [...past, doc], future: future.slice(1), last: initial.last });
  leaveLostScope();
}

const OWN = "drawing ";

/** Whether an origin is a generated name, not a file or a template. */
export const isOwn = (origin: string): boolean => origin.startsWith(OWN);

/** A unique name for a drawing without a file. */
export const newOrigin = (): string =>
  `${OWN}${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;

export interface Home {
  file: string | null;
  version: string;
  origins: readonly string[];
}

/** Show another document, with its own history. */
export function load(doc: Doc, home: Home): void {
  const opened = get().opened + 1;
  set({ ...initial, ...home, doc, saved: home.file === null ? EMPTY : doc, opened });
}

export function markSaved(doc: Doc, file: string, version: string): void {
  const others = get().origins.filter((origin) => origin !== file);
  set({ saved: doc, file, version, origins: [...others, file] });
}

export const isDirty = (state: DocState): boolean => state.doc !== state.saved;

/** Whether there are unsaved changes that the user made. */
export const hasWork = (state: DocState): boolean =>
  isDirty(state) && state.past.length > 0 && Object.keys(state.doc.network).length > 1;

export function select(selection: readonly string[]): void {
  const before = get().selection;
  if (before.length === selection.length && before.every((id, i) => id === selection[i])) return;
  set({ selection, arc: selection.length ? null : get().arc });
}

export function selectArc(arc: string | null): void {
  set(arc === null ? { arc } : { arc, selection: [] });
}

export function enter(step: Step): void {
  set({ scope: [...get().scope, step], selection: [], arc: null });
}

/** Go back out to a depth; 0 is the whole network. */
export function leaveTo(depth: number): void {
  set({ scope: get().scope.slice(0, depth), selection: [], arc: null });
}

/** Leave a superbox that was removed while open: by undo, or because its last use was removed. */
function leaveLostScope(): void {
  const { doc, scope } = get();
  let depth = 0;
  for (; depth < scope.length; depth += 1) {
    const body = bodyAt(doc.network, scope.slice(0, depth));
    const step = scope[depth];
    if (!step || body?.boxes?.[step.use]?.type !== step.superbox) break;
    if (!bodyAt(doc.network, scope.slice(0, depth + 1))) break;
  }
  if (depth < scope.length) leaveTo(depth);
}

/** The body of the open canvas. */
export const openBody = (state: DocState): Body =>
  bodyAt(state.doc.network, state.scope) ?? state.doc.network;
