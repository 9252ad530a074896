/** Inputs and outputs as palette items, next to the boxes of the studio's palette. */

/** A palette item. */
export interface Item {
  type: string;
  icon: string;
  tone: string;
  summary: string;
}

export const ENDS: Item[] = [
  { type: "input", icon: "▶", tone: "input", summary: "Where tuples enter, with their fields." },
  { type: "output", icon: "◀", tone: "output", summary: "Where results leave the network." },
];
