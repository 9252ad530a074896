/** The palette of the studio: boxes, functions, templates; loaded once. */

import { create } from "zustand";

import { api } from "../api/client";
import type { About, BoxInfo, Palette, TemplateInfo } from "../api/types";
import type { Arity } from "../model/edit";
import { readsOf, type Body, type BoxBlock, type Superbox } from "../model/network";
import { complain } from "./studio";

interface PaletteState {
  about: About | null;
  palette: Palette | null;
  types: Record<string, BoxInfo>;
  templates: TemplateInfo[];
  /** Whether the studio answered or refused; until then nothing that depends on it is shown. */
  settled: boolean;
}

export const usePalette = create<PaletteState>(() => ({
  about: null,
  palette: null,
  types: {},
  templates: [],
  settled: false,
}));

/** Load everything that does not change while the studio runs. */
export async function loadPalette(): Promise<About | null> {
  try {
    const [about, palette, templates] = await Promise.all([
      api.about(),
      api.palette(),
      api.templates(),
    ]);
    const types = Object.fromEntries(palette.boxes.map((box) => [box.type, box]));
    usePalette.setState({ about, palette, types, templates, settled: true });
    return about;
  } catch (error) {
    usePalette.setState({ settled: true });
    complain(error);
    return null;
  }
}

/** The number of inputs of a box; null means any number. */
export function arityOf(box: BoxBlock | undefined, superboxes: Record<string, Superbox>): Arity {
  if (!box) return { fixed: 1 };
  const definition = superboxes[box.type];
  if (definition) return { fixed: Math.max(1, Object.keys(definition.inputs ?? {}).length) };
  const info = usePalette.getState().types[box.type];
  if (!info) return { fixed: Math.max(1, readsOf(box).length) };
  return { fixed: info.max_inputs };
}

export const aritiesOf =
  (body: Body, superboxes: Record<string, Superbox>) =>
  (name: string): Arity =>
    arityOf(body.boxes?.[name], superboxes);

/** The outputs of a box; side outputs (late, dead) are separate. */
export interface Ports {
  main: string[];
  side: string[];
}

/** The outputs of a box, derived from its block alone; the check's answer takes precedence. */
export function portsOf(box: BoxBlock, superboxes: Record<string, Superbox>): Ports {
  const definition = superboxes[box.type];
  if (definition) {
    const names = Object.keys(definition.outputs ?? {});
    return { main: names.length ? names : ["0"], side: [] };
  }
  if (box.type === "filter") {
    const where = box["where"];
    const number = Array.isArray(where) ? Math.max(1, where.length) : 1;
    const main = Array.from({ length: number }, (_, i) => String(i));
    return { main: box["else"] === true ? [...main, "else"] : main, side: [] };
  }
  const info = usePalette.getState().types[box.type];
  if (!info) return { main: ["0"], side: [] };
  return { main: info.ports.length ? info.ports : ["0"], side: info.side_ports };
}
