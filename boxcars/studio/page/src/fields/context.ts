/** The context of a form field: schemas and problems of its box. */

import { useMemo } from "react";
import { useShallow } from "zustand/react/shallow";

import type { ArcSchema, Problem } from "../api/types";
import { arcKey, bodyAt, flatArc, parseArc, readsOf, type Arc, type Scope } from "../model/network";
import { problemsAt, problemsById, useCheck } from "../state/check";
import { useDoc } from "../state/doc";

/** The schema of an arc on the canvas, if the check knows it. */
export function schemaOf(arc: Arc): ArcSchema | undefined {
  const { doc, scope } = useDoc.getState();
  return findSchema(arc, scope, flatArc(doc.network, scope, arc));
}

export function findSchema(arc: Arc, scope: Scope, flat: string): ArcSchema | undefined {
  const { answer } = useCheck.getState();
  const inside = scope.at(-1);
  return answer?.schemas[flat] ?? (inside && answer?.superboxes[inside.superbox]?.[arcKey(arc)]);
}

/** The schemas of the inputs of a box. */
export function useReads(box: string): (ArcSchema | undefined)[] {
  const answer = useCheck((state) => state.answer);
  const [network, scope] = useDoc(useShallow((state) => [state.doc.network, state.scope]));
  return useMemo(() => {
    const block = bodyAt(network, scope)?.boxes?.[box];
    if (!answer || !block) return [];
    return readsOf(block).map((text) => (text === null ? undefined : schemaOf(parseArc(text))));
  }, [answer, network, scope, box]);
}

/** The distinct field names in the inputs of a box. */
export function useFieldNames(box: string): string[] {
  const reads = useReads(box);
  return useMemo(
    () => [...new Set(reads.flatMap((schema) => schema?.fields.map((f) => f.name) ?? []))],
    [reads],
  );
}

/** The problems of an item on the canvas. */
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
