/** Human-readable numbers, sizes and times. */

/** A number in few characters: 437, 7.1 k, 1.6 M. */
export function short(number: number | null | undefined): string {
  if (number === null || number === undefined || !Number.isFinite(number)) return "–";
  const size = Math.abs(number);
  for (const [unit, sign] of [
    [1e9, " G"],
    [1e6, " M"],
    [1e3, " k"],
  ] as const)
    if (size >= unit) return trim(number / unit) + sign;
  if (size === 0) return "0";
  return size >= 1 ? trim(number) : number.toPrecision(2);
}

const trim = (number: number): string =>
  Math.abs(number) < 10 ? number.toFixed(1).replace(/\.0$/, "") : number.toFixed(0);

export const rate = (number: number | null | undefined): string =>
  number === null || number === undefined ? "–" : `${short(number)}/s`;

export function bytes(number: number | null | undefined): string {
  if (number === null || number === undefined) return "–";
  for (const [unit, sign] of [
    [2 ** 30, " GB"],
    [2 ** 20, " MB"],
    [2 ** 10, " kB"],
  ] as const)
    if (number >= unit) return trim(number / unit) + sign;
  return `${number} B`;
}

export function seconds(number: number | null | undefined): string {
  if (number === null || number === undefined) return "–";
  if (number >= 120) return `${Math.floor(number / 60)} min`;
  return number >= 1 ? `${trim(number)} s` : `${trim(number * 1000)} ms`;
}

export const percent = (share: number | null | undefined): string =>
  share === null || share === undefined ? "–" : `${Math.round(share * 100)} %`;

/** A time of day, from seconds since 1970. */
export const clock = (time: number): string =>
  new Date(time * 1000).toLocaleTimeString("en-GB", { hour12: false });

export const day = (time: number): string =>
  new Date(time * 1000).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });

/** A time of day; of another day than today, with its date. */
export const moment = (time: number): string =>
  new Date(time * 1000).toDateString() === new Date().toDateString() ? clock(time) : day(time);

/** A value of a tuple. */
export function showValue(value: unknown): string {
  if (value === null || value === undefined) return "∅";
  if (typeof value === "number")
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(8)));
  if (typeof value === "string") return value;
  return JSON.stringify(value);
}

export const plural = (number: number, word: string): string =>
  `${number.toLocaleString("en-GB")} ${word}${number === 1 ? "" : "s"}`;
