/** Questions before data is lost: what is lost, and the choices. */

import { create } from "zustand";

export interface Choice {
  key: string;
  label: string;
  kind?: "primary" | "danger";
}

export interface Question {
  title: string;
  /** What is lost; one paragraph each. */
  words: readonly string[];
  choices: readonly Choice[];
  /** The label of the answer that changes nothing. */
  stay?: string;
}

interface Asked extends Question {
  answer: (key: string | null) => void;
}

export const useAsking = create<{ question: Asked | null }>(() => ({ question: null }));

/** Ask, and wait for the answer: the key of a choice, or null to change nothing. */
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

/** Do the work only if the user confirms. */
export async function askFirst(
  question: Omit<Question, "choices"> & { yes: string },
  work: () => unknown,
): Promise<void> {
  const choices = [{ key: "yes", label: question.yes, kind: "danger" as const }];
  if ((await ask({ ...question, choices })) === "yes") await work();
}
