/** The pending question, if any. The focus is on the answer that changes nothing. */

import { useAsking } from "../state/asking";
import { Button } from "../ui/controls";
import { Dialog } from "../ui/Dialog";

export function Asking() {
  const question = useAsking((state) => state.question);
  if (!question) return null;
  const { title, words, choices, stay = "Cancel", answer } = question;
  return (
    <Dialog
      title={title}
      onClose={() => answer(null)}
      asks
      testId="ask"
      actions={
        <>
          <Button label={stay} first onClick={() => answer(null)} testId="ask-stay" />
          <span className="grow" />
          {choices.map(({ key, label, kind }) => (
            <Button
              key={key}
              label={label}
              kind={kind ?? "plain"}
              onClick={() => answer(key)}
              testId={`ask-${key}`}
            />
          ))}
        </>
      }
    >
      {words.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </Dialog>
  );
}
