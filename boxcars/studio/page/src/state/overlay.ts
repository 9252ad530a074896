/** Marks on the drawing: counts of a preview, loads of a run, changes between versions. */

import { create } from "zustand";

export interface BoxMark {
  /** Shown instead of the box's summary. */
  text?: string;
  /** Utilisation, from 0 to 1. */
  load?: number;
  tone?: "added" | "removed" | "changed" | "active";
}

export interface ArcMark {
  text?: string;
  /** Line width in pixels. */
  width?: number;
  level?: "quiet" | "good" | "warn" | "bad";
  /** Tuples passed in the last step. */
  fresh?: boolean;
  /** A breakpoint of the preview. */
  stop?: boolean;
}

interface Overlay {
  boxes: Record<string, BoxMark>;
  arcs: Record<string, ArcMark>;
}

export const useOverlay = create<Overlay>(() => ({ boxes: {}, arcs: {} }));

function kept<T extends object>(old: Record<string, T>, next: Record<string, T>) {
  return Object.fromEntries(
    Object.entries(next).map(([name, mark]) => {
      const was = old[name];
      return [name, was && equal(was, mark) ? was : mark];
    }),
  );
}

function equal(one: object, other: object): boolean {
  const a = Object.entries(one);
  const b = other as Record<string, unknown>;
  return a.length === Object.keys(b).length && a.every(([key, value]) => b[key] === value);
}

/** Set the marks; unchanged marks are not redrawn. */
export function overlay(next: Overlay): void {
  const { boxes, arcs } = useOverlay.getState();
  useOverlay.setState({ boxes: kept(boxes, next.boxes), arcs: kept(arcs, next.arcs) });
}

export const clearOverlay = (): void => useOverlay.setState({ boxes: {}, arcs: {} });
