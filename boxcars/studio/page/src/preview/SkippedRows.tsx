/** Rows of the sample data that were skipped: how many, why, and which. */

import { useState } from "react";

import type { Preview } from "../api/types";
import { Button } from "../ui/controls";
import { plural } from "../ui/format";

/** "2 rows of calls, 1 row of quotes": the rows that each input or box skipped. */
const counted = (preview: Preview): string =>
  Object.entries(preview.boxes)
    .filter(([, box]) => box.stats.dead > 0)
    .map(([name, box]) => `${plural(box.stats.dead, "row")} of ${name}`)
    .join(", ");

export function SkippedRows({ preview }: { preview: Preview }) {
  const [all, setAll] = useState(false);
  const [first] = preview.dead;
  if (!first) return null;
  const total = Object.values(preview.boxes).reduce((sum, box) => sum + box.stats.dead, 0);
  return (
    <div className="trouble banner left-out" role="alert" data-testid="preview-dead">
      <p className="grow">
        {counted(preview)} skipped. {total > 1 && "The first: "}
        {first.reason}.
      </p>
      <Button
        label={all ? "Hide" : "Show"}
        kind="ghost"
        onClick={() => setAll(!all)}
        testId="preview-dead-all"
      />
      {all && (
        <ul>
          {preview.dead.map((letter, i) => (
            <li key={i} data-testid="dead-letter">
              <code>{letter.record}</code> {letter.reason}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
