/** The state of the page itself: mode, theme, open panels, notices. */

import { create } from "zustand";

export const MODES = ["compose", "preview", "plan", "watch"] as const;
export type Mode = (typeof MODES)[number];
export type Theme = "light" | "dark" | "system";
export type Dialog = "gallery" | "open" | "save" | "help" | "diff" | "start" | "commands" | null;
export type Dock = "problems" | "tables" | "tests" | "text";

export interface Notice {
  id: number;
  tone: "good" | "bad" | "plain";
  text: string;
  /** A suggested action. */
  action?: { label: string; run: () => void };
}

interface StudioState {
  mode: Mode;
  theme: Theme;
  dialog: Dialog;
  dock: Dock | null;
  notices: Notice[];
  /** The file to compare with; null for the last saved version. */
  against: string | null;
  /** The selected subquery of the plan. */
  subquery: string | null;
  /** The server does not respond. */
  lost: boolean;
}

const THEME = "boxcars.theme";

function keptTheme(): Theme {
  const kept = localStorage.getItem(THEME);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export const useStudio = create<StudioState>(() => ({
  mode: "compose",
  theme: keptTheme(),
  dialog: "gallery",
  dock: null,
  notices: [],
  against: null,
  subquery: null,
  lost: false,
}));

const { getState: get, setState: set } = useStudio;

export const setMode = (mode: Mode): void => set({ mode });
export const setSubquery = (subquery: string | null): void => set({ subquery });
export const openDialog = (dialog: Dialog): void => set({ dialog, against: null });
export const compareWith = (file: string): void => set({ dialog: "diff", against: file });
export const setLost = (lost: boolean): void => {
  if (get().lost !== lost) set({ lost });
};
export const toggleDock = (dock: Dock): void => set({ dock: get().dock === dock ? null : dock });
export const openDock = (dock: Dock | null): void => set({ dock });

export function setTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(THEME);
  else localStorage.setItem(THEME, theme);
  set({ theme });
  showTheme();
}

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

export const isDark = (theme: Theme): boolean =>
  theme === "dark" || (theme === "system" && prefersDark.matches);

/** Apply the theme; called at the start and whenever it changes. */
export function showTheme(): void {
  document.documentElement.dataset["theme"] = isDark(get().theme) ? "dark" : "light";
}
prefersDark.addEventListener("change", showTheme);

let notices = 0;

/** Show a notice in a corner of the page; an error stays until it is dismissed. */
export function say(text: string, tone: Notice["tone"] = "plain", action?: Notice["action"]): void {
  notices += 1;
  const id = notices;
  const same = get().notices.filter((notice) => notice.text !== text);
  set({ notices: [...same.slice(-3), { id, tone, text, ...(action && { action }) }] });
  if (tone !== "bad") window.setTimeout(() => dismiss(id), 5000);
}

export function dismiss(id: number): void {
  set({ notices: get().notices.filter((notice) => notice.id !== id) });
}

/** Show an error; if the studio does not respond, the header says so instead. */
export function complain(error: unknown): void {
  if (get().lost) return;
  say(error instanceof Error ? error.message : String(error), "bad");
}
