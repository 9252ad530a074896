/** The equivalent files for the command line (query, deploy, resources), and the plan as text. */

import { useEffect, useState } from "react";

import { api } from "../api/client";
import type { Compiled } from "../api/types";
import { offer } from "../state/files";
import { askCompile, useLaunch } from "../state/launch";
import { complain, say } from "../state/studio";
import { Button } from "../ui/controls";
import { OneOf } from "../ui/OneOf";
import type { Shown } from "./PlanView";

export function PlanFiles({ shown }: { shown: Shown }) {
  const launch = useLaunch();
  const [compiled, setCompiled] = useState<Compiled | null>(null);
  const [tab, setTab] = useState("plan");
  useEffect(() => {
    let mine = true;
    const timer = window.setTimeout(() => {
      api.compile(askCompile()).then(
        (answer) => {
          if (mine) setCompiled(answer);
        },
        () => {
          if (mine) setCompiled(null);
        },
      );
    }, 250);
    return () => {
      mine = false;
      window.clearTimeout(timer);
    };
  }, [shown, launch]);
  const files = compiled?.files ?? {};
  const text =
    tab === "plan"
      ? shown.plan.text
      : tab === "commands"
        ? (compiled?.commands ?? []).join("\n")
        : (files[tab] ?? "");
  const write = async () => {
    try {
      const { folder } = await api.compile({ ...askCompile(), save: shown.network.name });
      say(`Written to ${folder ?? shown.network.name}.`, "good");
    } catch (error) {
      complain(error);
    }
  };
  return (
    <section className="dock open files-dock" aria-label="Files">
      <div className="dock-tabs">
        <OneOf
          label="Files"
          look="plain"
          panel="files-panel"
          value={tab}
          options={["plan", ...Object.keys(files), ...(compiled ? ["commands"] : [])].map(
            (name) => ({ value: name, label: name }),
          )}
          onChange={setTab}
          testId="plan-file"
        />
        <span className="grow" />
        {tab !== "plan" && (
          <Button label="Download" icon="download" kind="ghost" onClick={() => offer(text, tab)} />
        )}
        <Button
          label="Write the files"
          icon="save"
          kind="ghost"
          disabled={!compiled}
          onClick={() => void write()}
          testId="write-files"
        />
      </div>
      <div className="dock-body" id="files-panel" role="tabpanel" aria-label={tab}>
        <pre tabIndex={0} data-testid="plan-text">
          {text}
        </pre>
      </div>
    </section>
  );
}
