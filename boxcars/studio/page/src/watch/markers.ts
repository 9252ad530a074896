/** Events on a chart: vertical lines with tooltips. */

import type uPlot from "uplot";

import type { Event } from "../api/types";
import { clock } from "../ui/format";
import { kindText, toneOf } from "./eventKinds";

/** Pixels; events closer together share a line. */
const APART = 4;
/** Seconds; events this far outside of the measurements are shown at their edge. */
const SLACK = 5;

interface Marker {
  left: number;
  tone: string;
  lines: string[];
}

const lineOf = (event: Event): string =>
  `${clock(event.at)} ${kindText(event.kind)}${event.box && ` (${event.box})`}: ${event.cause}`;

function markersOf(plot: uPlot, events: readonly Event[]): Marker[] {
  const { min, max } = plot.scales.x ?? {};
  if (min === undefined || max === undefined || !plot.data[0].length) return [];
  const found: Marker[] = [];
  for (const event of events) {
    if (event.at < min - SLACK || event.at > max + SLACK) continue;
    const left = Math.round(plot.valToPos(Math.min(max, Math.max(min, event.at)), "x"));
    const last = found.at(-1);
    if (last && left - last.left < APART) {
      last.lines.push(lineOf(event));
      last.tone = toneOf(event.kind);
    } else found.push({ left, tone: toneOf(event.kind), lines: [lineOf(event)] });
  }
  return found;
}

/** Draw the markers. Elements are reused, so that a tooltip stays open while the chart moves. */
export function drawMarkers(plot: uPlot, events: readonly Event[]): void {
  const wanted = markersOf(plot, events);
  const known = plot.over.querySelectorAll<HTMLElement>(".marker");
  wanted.forEach(({ left, tone, lines }, i) => {
    const element = known[i] ?? plot.over.appendChild(document.createElement("span"));
    element.className = `marker ${tone}`;
    element.style.left = `${left}px`;
    element.title = lines.slice(-10).join("\n");
  });
  known.forEach((element, i) => i >= wanted.length && element.remove());
}
