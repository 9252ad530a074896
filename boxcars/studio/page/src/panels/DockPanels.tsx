/** The panels below the canvas: problems, tables, tests, the file as text. */

import { useCheck } from "../state/check";
import { openDialog, openDock, toggleDock, useStudio, type Dock } from "../state/studio";
import { Button } from "../ui/controls";
import { Icon, type IconName } from "../ui/Icon";
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
      <div className="dock-tabs" role="tablist" aria-label="Panels">
        {TABS.map(([name, words, icon]) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={dock === name}
            className={dock === name ? "on" : ""}
            onClick={() => toggleDock(name)}
            data-testid={`dock-${name}`}
          >
            <Icon name={icon} size={14} /> {words}
            {name === "problems" && problems > 0 && <span className="count">{problems}</span>}
          </button>
        ))}
        <button type="button" onClick={() => openDialog("diff")} data-testid="dock-diff">
          <Icon name="diff" size={14} /> Compare
        </button>
        <span className="grow" />
        {dock && (
          <Button label="Fold" icon="down" kind="ghost" iconOnly onClick={() => openDock(null)} />
        )}
      </div>
      {dock && (
        <div className="dock-body" role="tabpanel">
          {dock === "problems" && <Problems />}
          {dock === "tables" && <Tables />}
          {dock === "tests" && <Tests />}
          {dock === "text" && <TextPanel />}
        </div>
      )}
    </section>
  );
}
