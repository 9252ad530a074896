/** A short summary of a box, as in the drawings of `boxcars draw`. */

import type { BoxBlock, Plain } from "./network";

const KEYS = new Set(["type", "in", "group"]);

const isMap = (plain: Plain | undefined): plain is Record<string, Plain> =>
  typeof plain === "object" && plain !== null && !Array.isArray(plain);

/** A value on one line. */
export function short(plain: Plain | undefined): string {
  if (plain === undefined || plain === null) return "";
  if (Array.isArray(plain)) return plain.map(short).join(", ");
  if (isMap(plain))
    return Object.entries(plain)
      .map(([key, value]) => `${key}: ${short(value)}`)
      .join(", ");
  return String(plain);
}

const list = (plain: Plain): string[] => (Array.isArray(plain) ? plain : [plain]).map(short);

export function windowWords(window: Record<string, Plain>): string {
  for (const kind of ["landmark", "runs"]) if (kind in window) return kind;
  let words = "window";
  if ("tuples" in window) words = `${short(window["tuples"])} tuples`;
  else if ("value" in window) words = `${short(window["value"])} ${short(window["size"])}`;
  else if ("time" in window) words = `time ${short(window["time"])}`;
  return "advance" in window ? `${words} / ${short(window["advance"])}` : words;
}

export function summarize(box: BoxBlock): string {
  const params = Object.fromEntries(
    Object.entries(box).filter(([key, value]) => !KEYS.has(key) && value !== undefined),
  ) as Record<string, Plain>;
  const { where, window, by, fields, options: _, ...rest } = params;
  if (where !== undefined && where !== null)
    return [...list(where), ...(params["else"] ? ["else"] : [])].join(" | ");
  const parts: string[] = [];
  if (isMap(window)) parts.push(windowWords(window));
  if (by !== undefined && by !== null) parts.push(`by ${list(by).join(", ")}`);
  if (isMap(fields) && !parts.length) parts.push(Object.keys(fields).join(", "));
  if (!parts.length && Object.keys(rest).length) parts.push(short(rest));
  return parts.join(", ").replace(/\s+/g, " ");
}
