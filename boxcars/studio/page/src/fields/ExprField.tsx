/** A field for an expression or an SQL statement, with completion from the studio. */

import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useEffectEvent, useRef } from "react";

import { api } from "../api/client";
import { useDoc } from "../state/doc";
import { extensions, FROM_OUTSIDE, type Suggestion } from "./editor";

interface ExprProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  /** The edited box and parameter; without them there is no completion. */
  box?: string;
  path?: readonly string[];
  hint?: string;
  multiline?: boolean;
  wrong?: boolean;
  testId?: string;
}

export function ExprField(props: ExprProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const changed = useEffectEvent((text: string) => props.onChange(text));
  const suggest = useEffectEvent(
    async (text: string, cursor: number): Promise<Suggestion | null> => {
      if (props.box === undefined) return null;
      const { doc, scope } = useDoc.getState();
      return api.complete({
        network: doc.network,
        box: props.box,
        path: [...(props.path ?? [])],
        text,
        cursor,
        superbox: scope.at(-1)?.superbox ?? null,
      });
    },
  );
  const first = useEffectEvent(() => ({
    text: props.value,
    label: props.label,
    hint: props.hint ?? "",
    multiline: props.multiline ?? false,
    completes: props.box !== undefined,
  }));
  useEffect(() => {
    if (!host.current) return undefined;
    const { text, completes, ...options } = first();
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: text,
        extensions: extensions({
          ...options,
          suggest: completes ? (t, cursor) => suggest(t, cursor) : null,
          onChange: (t) => changed(t),
        }),
      }),
    });
    editor.current = view;
    return () => {
      editor.current = null;
      view.destroy();
    };
  }, []);
  useEffect(() => {
    const view = editor.current;
    if (!view || view.state.doc.toString() === props.value) return;
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: props.value },
      annotations: FROM_OUTSIDE.of(true),
    });
  }, [props.value]);
  useEffect(() => {
    editor.current?.contentDOM.setAttribute("aria-invalid", String(props.wrong ?? false));
  }, [props.wrong]);
  return (
    <div
      ref={host}
      className={`expr${props.multiline ? " multiline" : ""}${props.wrong ? " wrong" : ""}`}
      data-testid={props.testId}
    />
  );
}
