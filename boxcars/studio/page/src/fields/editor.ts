/** The editor for expressions and SQL: highlighting, completion, one line or several. */

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  completionStatus,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { Annotation, EditorState, Prec, type Extension } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Marks a change that the user did not type. */
export const FROM_OUTSIDE = Annotation.define<boolean>();

const WORDS =
  /^(and|or|not|in|is|null|between|like|case|when|then|else|end|true|false|as|cast|select|from|where|group|by|order|limit|update|set|insert|into|values|delete|distinct|interval|on|join)\b/i;

const language = StreamLanguage.define({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^'(?:[^']|'')*'?/)) return "string";
    if (stream.match(/^"(?:[^"]|"")*"?/)) return "variableName";
    if (stream.match(/^\d+(\.\d+)?(e[+-]?\d+)?/i)) return "number";
    if (stream.match(/^\$[\w]+/)) return "atom";
    if (stream.match(WORDS)) return "keyword";
    if (stream.match(/^[\p{L}_][\p{L}\p{N}_]*(?=\s*\()/u)) return "typeName";
    if (stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u)) return "variableName";
    stream.next();
    return "operator";
  },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.typeName, color: "var(--code-function)" },
  { tag: tags.atom, color: "var(--code-number)", fontWeight: "600" },
  { tag: tags.operator, color: "var(--soft)" },
]);

export interface Suggestion {
  from: number;
  options: { label: string; kind: string; detail: string; doc: string }[];
}
export type Suggest = (text: string, cursor: number) => Promise<Suggestion | null>;

const KINDS: Record<string, string> = { field: "property", function: "function", table: "class" };

function completionOf(option: Suggestion["options"][number]): Completion {
  const isCall = option.kind === "function";
  return {
    label: option.label,
    type: KINDS[option.kind] ?? "keyword",
    detail: option.detail,
    ...(option.doc && { info: option.doc }),
    boost: option.kind === "field" ? 2 : isCall ? 1 : 0,
    ...(isCall && {
      apply: (view: EditorView, _: Completion, from: number, to: number) => {
        const name = option.label.replace(/\(.*$/, "");
        const called = view.state.sliceDoc(to, to + 1) === "(";
        view.dispatch({
          changes: { from, to, insert: called ? name : `${name}()` },
          selection: { anchor: from + name.length + 1 },
          userEvent: "input.complete",
        });
      },
    }),
  };
}

function source(suggest: Suggest) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[\p{L}\p{N}_.$]+$/u);
    if (!word && !context.explicit) return null;
    const found = await suggest(context.state.doc.toString(), context.pos).catch(() => null);
    if (!found || context.aborted) return null;
    return {
      from: found.from,
      options: found.options.map(completionOf),
      validFor: /^[\p{L}\p{N}_]*$/u,
    };
  };
}

const single = Prec.high(
  keymap.of([
    {
      key: "Enter",
      run: (view) => {
        if (completionStatus(view.state) === "active") return acceptCompletion(view);
        view.contentDOM.blur();
        return true;
      },
    },
    { key: "Tab", run: acceptCompletion },
  ]),
);

export interface EditorOptions {
  label: string;
  hint: string;
  multiline: boolean;
  suggest: Suggest | null;
  onChange: (text: string) => void;
}

export function extensions(options: EditorOptions): Extension[] {
  return [
    ...(options.multiline ? [] : [single]),
    history(),
    closeBrackets(),
    language,
    syntaxHighlighting(colours),
    EditorView.lineWrapping,
    placeholder(options.hint),
    EditorState.allowMultipleSelections.of(false),
    EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
    ...(options.suggest
      ? [
          autocompletion({
            override: [source(options.suggest)],
            icons: true,
            maxRenderedOptions: 60,
          }),
        ]
      : []),
    keymap.of([
      ...closeBracketsKeymap,
      ...completionKeymap,
      { key: "Mod-Space", run: startCompletion },
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged && update.transactions.some((tr) => !tr.annotation(FROM_OUTSIDE)))
        options.onChange(update.state.doc.toString());
    }),
  ];
}
