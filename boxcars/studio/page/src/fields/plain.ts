/** Conversions of plain data to the types that form fields expect. */

import type { Block, Plain } from "../model/network";

export const isMap = (plain: unknown): plain is Block =>
  typeof plain === "object" && plain !== null && !Array.isArray(plain);

export function asText(plain: Plain | undefined): string {
  if (plain === undefined || plain === null) return "";
  return typeof plain === "object" ? JSON.stringify(plain) : String(plain);
}

export function asList(plain: Plain | undefined): string[] {
  if (plain === undefined || plain === null) return [];
  return Array.isArray(plain) ? plain.map(asText) : [asText(plain)];
}

export const asMap = (plain: Plain | undefined): Record<string, string> =>
  isMap(plain)
    ? Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, asText(value)]))
    : {};

/** Parse JSON; undefined if the text is not JSON. */
export function parseJson(text: string): Plain | undefined {
  try {
    return JSON.parse(text) as Plain;
  } catch {
    return undefined;
  }
}

/** A mapping with one key renamed, in the same order. */
export const renameKey = <T>(map: Record<string, T>, from: string, to: string) =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key === from ? to : key, value]));

export const withoutKey = <T>(map: Record<string, T>, removed: string) =>
  Object.fromEntries(Object.entries(map).filter(([key]) => key !== removed));

/** The mapping, or undefined if it is empty, so that the file omits it. */
export const orNone = <T>(map: Record<string, T>) => (Object.keys(map).length ? map : undefined);
