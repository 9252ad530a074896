/** The schema of the arc under the pointer. */

import { create } from "zustand";

import type { ArcSchema } from "../api/types";
import { findSchema } from "../fields/context";
import type { ArcEdge } from "../model/graph";
import { parseArc } from "../model/network";
import { useDoc } from "../state/doc";

interface Tip {
  title: string;
  schema: ArcSchema | undefined;
  x: number;
  y: number;
}

export const useTip = create<{ tip: Tip | null }>(() => ({ tip: null }));

export function showTip(edge: ArcEdge, x: number, y: number): void {
  if (!edge.data) return;
  const { text, flat } = edge.data;
  const schema = findSchema(parseArc(text), useDoc.getState().scope, flat);
  useTip.setState({ tip: { title: text, schema, x, y } });
}

export const hideTip = (): void => {
  if (useTip.getState().tip) useTip.setState({ tip: null });
};
