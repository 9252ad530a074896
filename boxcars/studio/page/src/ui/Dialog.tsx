/**
 * A modal dialog; Escape and a click outside close it. The element marked `data-first` gets the
 * focus. Notices are inside it, because the rest of the page is inert.
 */

import { useEffect, useRef, type ReactNode } from "react";

import { Notices } from "../panels/Notices";
import { useAsking } from "../state/asking";
import { CloseButton } from "./controls";

export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  actions?: ReactNode;
  /** It is a question, shown on top of all other dialogs. */
  asks?: boolean;
  testId?: string;
}) {
  const below = useAsking((state) => state.question !== null) && !props.asks;
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      className={props.wide ? "dialog wide" : "dialog"}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) props.onClose();
      }}
      data-testid={props.testId}
    >
      <div className="dialog-inner" tabIndex={-1}>
        <header>
          <h2>{props.title}</h2>
          <CloseButton label="Close" onClick={props.onClose} testId="dialog-close" />
        </header>
        <div className="dialog-body">{props.children}</div>
        {props.actions && <footer>{props.actions}</footer>}
      </div>
      {!below && <Notices />}
    </dialog>
  );
}
