/** All boxes, by purpose: drag one onto the canvas, or click it. */

import { useState } from "react";
import { useShallow } from "zustand/react/shallow";

import type { BoxInfo } from "../api/types";
import { DRAGGED } from "../canvas/Canvas";
import { ENDS, type Item } from "../model/ends";
import { superboxesAt } from "../model/network";
import { add } from "../state/actions";
import { useDoc } from "../state/doc";
import { usePalette } from "../state/palette";
import { Badge } from "../ui/Badge";
import { TextField } from "../ui/controls";

const GROUPS: [string, string][] = [
  ["tuples", "Per tuple"],
  ["windows", "Windows"],
  ["order", "Order"],
  ["tables", "Stored tables"],
  ["formats", "Formats"],
  ["code", "Your code"],
];

const toItem = (box: BoxInfo): Item => ({
  type: box.type,
  icon: box.icon,
  tone: box.stateful ? "stateful" : "stateless",
  summary: box.summary,
});

const matches = (item: Item, words: string): boolean =>
  `${item.type} ${item.summary}`.toLowerCase().includes(words.toLowerCase().trim());

export function Palette() {
  const boxes = usePalette((state) => state.palette?.boxes);
  const superboxes = useDoc(
    useShallow((state) => Object.keys(superboxesAt(state.doc.network, state.scope))),
  );
  const [words, setWords] = useState("");
  const own: Item[] = superboxes.map((type) => ({
    type,
    icon: "⧉",
    tone: "superbox",
    summary: "A superbox of this network; each use has its own parameters.",
  }));
  const known = new Set(GROUPS.map(([group]) => group));
  const groups: [string, Item[]][] = [
    ["Inputs and outputs", ENDS],
    ...GROUPS.map(([group, title]): [string, Item[]] => [
      title,
      (boxes ?? []).filter((box) => box.group === group).map(toItem),
    ]),
    ["Other", (boxes ?? []).filter((box) => !known.has(box.group)).map(toItem)],
    ["Superboxes", own],
  ];
  return (
    <aside className="palette side" aria-label="Palette" data-testid="palette">
      <div className="side-head">
        <TextField
          value={words}
          onChange={setWords}
          placeholder="Find a box"
          label="Find a box"
          type="search"
          testId="palette-search"
        />
      </div>
      <div className="side-body">
        {groups.map(([title, items]) => {
          const shown = items.filter((item) => matches(item, words));
          return shown.length ? (
            <section key={title}>
              <h3>{title}</h3>
              {shown.map((item) => (
                <PaletteItem key={item.type} item={item} />
              ))}
            </section>
          ) : null;
        })}
      </div>
    </aside>
  );
}

function PaletteItem({ item }: { item: Item }) {
  return (
    <button
      type="button"
      className={`palette-item ${item.tone}`}
      draggable
      title={`${item.summary}\nDrag it onto the canvas, or click to add it after the selected box.`}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAGGED, item.type);
        event.dataTransfer.effectAllowed = "copy";
      }}
      onClick={() => add(item.type)}
      data-testid={`add-${item.type}`}
    >
      <Badge icon={item.icon} />
      <span className="words">
        <span className="name">{item.type}</span>
        <span className="summary">{item.summary}</span>
      </span>
    </button>
  );
}
