/** The header: open file, modes, and frequent actions. */

import { useShallow } from "zustand/react/shallow";

import { nameTrouble } from "./model/network";
import { useCheck } from "./state/check";
import { change, isDirty, leaveTo, redo, undo, useDoc } from "./state/doc";
import { useRuns } from "./state/runs";
import { save } from "./state/saving";
import {
  isDark,
  openDialog,
  openDock,
  setMode,
  setTheme,
  useStudio,
  type Mode,
} from "./state/studio";
import { Button, Draft } from "./ui/controls";
import { plural } from "./ui/format";
import type { IconName } from "./ui/Icon";
import { OneOf } from "./ui/OneOf";

const MODE_WORDS: { value: Mode; label: string; icon: IconName }[] = [
  { value: "compose", label: "Compose", icon: "edit" },
  { value: "preview", label: "Preview", icon: "eye" },
  { value: "plan", label: "Plan", icon: "layers" },
  { value: "watch", label: "Watch", icon: "chart" },
];

export function Header() {
  const [mode, theme, lost] = useStudio(useShallow((s) => [s.mode, s.theme, s.lost]));
  const busy = useRuns(
    (state) =>
      state.runs.filter((run) => ["running", "waiting", "starting"].includes(run.state)).length,
  );
  return (
    <>
      <header className="header">
        <Brand />
        <Title />
        <OneOf
          label="Mode"
          value={mode}
          options={MODE_WORDS}
          onChange={setMode}
          panel="view"
          testId="mode"
        />
        <div className="header-end">
          <CheckState />
          <Button
            label={busy ? `Run (${busy} active)` : "Run"}
            icon="play"
            kind="primary"
            onClick={() => openDialog("start")}
            title="Start this network on Spark"
            testId="run"
          />
          <Button
            label={isDark(theme) ? "Light" : "Dark"}
            icon={isDark(theme) ? "sun" : "moon"}
            kind="ghost"
            iconOnly
            onClick={() => setTheme(isDark(theme) ? "light" : "dark")}
            testId="theme"
          />
          <Button
            label="Help"
            icon="help"
            kind="ghost"
            iconOnly
            keys="?"
            onClick={() => openDialog("help")}
            testId="help"
          />
        </div>
      </header>
      {lost && (
        <div className="lost" role="alert" data-testid="lost">
          The studio does not respond. Your work is still here; restart it with{" "}
          <code>boxcars studio</code>, and this page reconnects.
        </div>
      )}
    </>
  );
}

function Brand() {
  return (
    <button
      type="button"
      className="brand"
      title="Templates and files"
      onClick={() => openDialog("gallery")}
      data-testid="brand"
    >
      <img src="./favicon.svg" alt="" width={22} height={22} />
      <span>Boxcars</span>
    </button>
  );
}

function Title() {
  const [name, file, scope, past, future] = useDoc(
    useShallow((s) => [s.doc.network.name, s.file, s.scope, s.past.length, s.future.length]),
  );
  const dirty = useDoc(isDirty);
  return (
    <div className="title">
      <nav aria-label="Breadcrumb" className="crumbs">
        {scope.length ? (
          <button type="button" onClick={() => leaveTo(0)} data-testid="crumb-0">
            {name}
          </button>
        ) : (
          <span className="network-name" data-size={name}>
            <Draft
              value={name}
              label="network name"
              trouble={nameTrouble}
              onDone={(to) => change((doc) => ({ ...doc, network: { ...doc.network, name: to } }))}
              testId="network-name"
            />
          </span>
        )}
        {scope.map((step, i) => (
          <button
            key={i}
            type="button"
            onClick={() => leaveTo(i + 1)}
            data-testid={`crumb-${i + 1}`}
          >
            {step.use}
          </button>
        ))}
      </nav>
      <span
        className={dirty ? "file dirty" : "file"}
        title={dirty ? "Unsaved changes" : "All changes saved"}
        data-testid="file"
        data-dirty={dirty}
      >
        {file ?? "not saved"}
      </span>
      <Button
        label="Open"
        icon="open"
        kind="ghost"
        iconOnly
        keys="Ctrl+O"
        onClick={() => openDialog("open")}
        testId="open"
      />
      <Button
        label="Save"
        icon="save"
        kind="ghost"
        iconOnly
        keys="Ctrl+S"
        onClick={() => void save()}
        testId="save"
      />
      <Button
        label="Undo"
        icon="undo"
        kind="ghost"
        iconOnly
        keys="Ctrl+Z"
        disabled={!past}
        onClick={undo}
        testId="undo"
      />
      <Button
        label="Redo"
        icon="redo"
        kind="ghost"
        iconOnly
        keys="Ctrl+Y"
        disabled={!future}
        onClick={redo}
        testId="redo"
      />
    </div>
  );
}

function CheckState() {
  const answer = useCheck((state) => state.answer);
  const empty = useDoc((state) => Object.keys(state.doc.network).length <= 1);
  if (!answer || empty) return null;
  const number = answer.problems.length;
  const [first] = answer.problems;
  const words = number ? plural(number, "problem") : "no problems";
  return (
    <>
      <button
        type="button"
        className={number ? "check-state bad" : "check-state good"}
        onClick={() => {
          setMode("compose");
          openDock("problems");
        }}
        data-testid="check-state"
      >
        {words}
      </button>
      <span className="unseen" role="status" data-testid="check-spoken">
        {first ? `${words}: ${first.entity} ${first.name}: ${first.message}` : words}
      </span>
    </>
  );
}
