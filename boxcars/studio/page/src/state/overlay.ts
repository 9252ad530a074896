/** What lies over the drawing: counts of a preview, loads of a run, changes between versions. */

import { create } from "zustand";

export interface BoxMark {
  /** In place of what the box does. */
  text?: string;
  /** How busy it is, from 0 to 1. */
  load?: number;
  tone?: "added" | "removed" | "changed" | "active";
}

export interface ArcMark {
  text?: string;
  /** Of the line. */
  width?: number;
  level?: "quiet" | "good" | "warn" | "bad";
  /** Something came along in the last step. */
  fresh?: boolean;
  /** A preview stops when a tuple comes here. */
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

/** Lay something over the drawing; what stays the same is not drawn again. */
export function overlay(next: Overlay): void {
  const { boxes, arcs } = useOverlay.getState();
  useOverlay.setState({ boxes: kept(boxes, next.boxes), arcs: kept(arcs, next.arcs) });
}

export const clearOverlay = (): void => useOverlay.setState({ boxes: {}, arcs: {} });
