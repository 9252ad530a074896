/** What a field needs to know of the box it belongs to. */

import { useMemo } from "react";
import { useShallow } from "zustand/react/shallow";

import type { ArcSchema, Problem } from "../api/types";
import { arcKey, bodyAt, flatArc, parseArc, readsOf, type Arc, type Scope } from "../model/network";
import { problemsAt, problemsById, useCheck } from "../state/check";
import { useDoc } from "../state/doc";

/** The schema of an arc of the canvas, if the check knows it. */
export function schemaOf(arc: Arc): ArcSchema | undefined {
  const { doc, scope } = useDoc.getState();
  return findSchema(arc, scope, flatArc(doc.network, scope, arc));
}

export function findSchema(arc: Arc, scope: Scope, flat: string): ArcSchema | undefined {
  const { answer } = useCheck.getState();
  const inside = scope.at(-1);
  return answer?.schemas[flat] ?? (inside && answer?.superboxes[inside.superbox]?.[arcKey(arc)]);
}

/** The schemas of all that a box reads. */
export function useReads(box: string): (ArcSchema | undefined)[] {
  const answer = useCheck((state) => state.answer);
  const [network, scope] = useDoc(useShallow((state) => [state.doc.network, state.scope]));
  return useMemo(() => {
    const block = bodyAt(network, scope)?.boxes?.[box];
    if (!answer || !block) return [];
    return readsOf(block).map((text) => (text === null ? undefined : schemaOf(parseArc(text))));
  }, [answer, network, scope, box]);
}

/** The names of the fields that a box reads, without doubles. */
export function useFieldNames(box: string): string[] {
  const reads = useReads(box);
  return useMemo(
    () => [...new Set(reads.flatMap((schema) => schema?.fields.map((f) => f.name) ?? []))],
    [reads],
  );
}

/** The problems of a thing on the canvas; with a path those at that field. */
export function useProblems(id: string): Problem[] {
  const answer = useCheck((state) => state.answer);
  const [network, scope] = useDoc(useShallow((state) => [state.doc.network, state.scope]));
  return useMemo(
    () => problemsById(answer?.problems ?? [], network, scope).get(id) ?? [],
    [answer, network, scope, id],
  );
}

/** The messages at a field, from the problems of its box. */
export function messagesAt(problems: readonly Problem[], path: readonly string[]): string[] {
  const { doc, scope } = useDoc.getState();
  const found = problemsAt(problems, doc.network, scope, path);
  return [...new Set(found.map((problem) => problem.message))];
}
