/** The panels below the canvas: problems, tables, tests, the file as text. */

import { useCheck } from "../state/check";
import { openDialog, openDock, toggleDock, useStudio, type Dock } from "../state/studio";
import { Button } from "../ui/controls";
import { Icon, type IconName } from "../ui/Icon";
import { OneOf } from "../ui/OneOf";
import { Problems } from "./Problems";
import { Tables } from "./Tables";
import { Tests } from "./Tests";
import { TextPanel } from "./TextPanel";

const TABS: [Dock, string, IconName][] = [
  ["problems", "Problems", "warning"],
  ["tables", "Tables", "table"],
  ["tests", "Tests", "test"],
  ["text", "Text", "code"],
];

export function DockPanels() {
  const dock = useStudio((state) => state.dock);
  const problems = useCheck((state) => state.answer?.problems.length ?? 0);
  return (
    <section className={dock ? "dock open" : "dock"} aria-label="Panels">
      <div className="dock-tabs">
        <OneOf
          label="Panels"
          look="plain"
          panel="dock-panel"
          value={dock}
          options={TABS.map(([value, words, icon]) => ({
            value,
            label: (
              <>
                <Icon name={icon} size={14} /> {words}
                {value === "problems" && problems > 0 && <span className="count">{problems}</span>}
              </>
            ),
          }))}
          onChange={toggleDock}
          testId="dock"
        />
        <button type="button" onClick={() => openDialog("diff")} data-testid="dock-diff">
          <Icon name="diff" size={14} /> Compare
        </button>
        <span className="grow" />
        {dock && (
          <Button
            label="Collapse"
            icon="down"
            kind="ghost"
            iconOnly
            onClick={() => openDock(null)}
          />
        )}
      </div>
      {dock && (
        <div className="dock-body" id="dock-panel" role="tabpanel" aria-label={dock}>
          {dock === "problems" && <Problems />}
          {dock === "tables" && <Tables />}
          {dock === "tests" && <Tests />}
          {dock === "text" && <TextPanel />}
        </div>
      )}
    </section>
  );
}
