/** The ends of a network, beside the boxes that the studio tells of. */

/** Something that can be put on the canvas. */
export interface Item {
  type: string;
  icon: string;
  tone: string;
  summary: string;
}

export const ENDS: Item[] = [
  { type: "input", icon: "▶", tone: "input", summary: "Where tuples come in, with their fields." },
  { type: "output", icon: "◀", tone: "output", summary: "Where results leave the network." },
];
