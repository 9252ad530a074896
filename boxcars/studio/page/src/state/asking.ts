/** Questions before something is lost: what it is, and what the person may choose. */

import { create } from "zustand";

export interface Choice {
  key: string;
  label: string;
  kind?: "primary" | "danger";
}

export interface Question {
  title: string;
  /** What is lost, a paragraph each. */
  words: readonly string[];
  choices: readonly Choice[];
  /** What leaves everything as it is. */
  stay?: string;
}

interface Asked extends Question {
  answer: (key: string | null) => void;
}

export const useAsking = create<{ question: Asked | null }>(() => ({ question: null }));

/** Ask, and wait for the answer: the key of a choice, or null if everything is to stay as it is. */
export function ask(question: Question): Promise<string | null> {
  useAsking.getState().question?.answer(null);
  return new Promise((done) => {
    const answer = (key: string | null) => {
      useAsking.setState({ question: null });
      done(key);
    };
    useAsking.setState({ question: { ...question, answer } });
  });
}

/** Ask whether to go on; only if the person wants that, the work is done. */
export async function askFirst(
  question: Omit<Question, "choices"> & { yes: string },
  work: () => unknown,
): Promise<void> {
  const choices = [{ key: "yes", label: question.yes, kind: "danger" as const }];
  if ((await ask({ ...question, choices })) === "yes") await work();
}
