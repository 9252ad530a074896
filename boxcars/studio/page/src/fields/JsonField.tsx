/** A value without a specialised field, as JSON. */

import type { Plain } from "../model/network";
import { Draft } from "../ui/controls";
import { parseJson } from "./plain";

export function JsonField(props: {
  id: string;
  value: Plain | undefined;
  onChange: (value: Plain | undefined) => void;
  example: string;
  testId?: string;
}) {
  const trouble = `Not valid JSON. Example: ${props.example}.`;
  return (
    <Draft
      id={props.id}
      mono
      value={props.value === undefined ? "" : JSON.stringify(props.value)}
      placeholder={props.example}
      trouble={(text) => (text === "" || parseJson(text) !== undefined ? null : trouble)}
      onDone={(text) => props.onChange(text === "" ? undefined : parseJson(text))}
      {...(props.testId && { testId: props.testId })}
    />
  );
}
