/** A live chart: lines over time. */

import { useEffect, useRef } from "react";
import uPlot from "uplot";

import type { Event } from "../api/types";
import { isDark, useStudio } from "../state/studio";
import type { Values } from "../state/series";
import { clock } from "../ui/format";
import { drawMarkers } from "./markers";

export interface Line {
  label: string;
  values: Values;
  /** A CSS variable of the page's colours, such as --input. */
  colour: string;
  thin?: boolean;
}

interface ChartProps {
  title: string;
  times: number[];
  lines: readonly Line[];
  show: (value: number | null | undefined) => string;
  height?: number;
  /** Time range in seconds. */
  span?: number;
  /** The run has ended, so its last value is not a current one. */
  over?: boolean;
  /** Events, shown as vertical lines. */
  events?: readonly Event[];
  testId?: string;
}

const colourOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim() || name;

function options(props: ChartProps, width: number): uPlot.Options {
  const soft = colourOf("--soft");
  const grid = { stroke: colourOf("--faint"), width: 1 };
  const font = "10.5px system-ui, sans-serif";
  const tick = { show: false };
  return {
    width,
    height: props.height ?? 96,
    padding: [6, 8, 0, 0],
    cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false } },
    legend: { show: false },
    scales: {
      x: { time: true },
      y: { range: (_, low, high) => [Math.min(0, low || 0), (high || 1) * 1.08] },
    },
    axes: [
      {
        stroke: soft,
        grid: { show: false },
        ticks: tick,
        font,
        size: 20,
        space: 70,
        values: (plot, at) => at.map((time) => (plot.data[0].length ? clock(time) : "")),
      },
      {
        stroke: soft,
        grid,
        ticks: tick,
        font,
        size: 46,
        space: 26,
        values: (_, at) => at.map((value) => props.show(value)),
      },
    ],
    series: [
      {},
      ...props.lines.map((line) => ({
        label: line.label,
        stroke: colourOf(line.colour),
        width: line.thin ? 1 : 1.8,
        points: { show: false },
        spanGaps: true,
        ...(props.lines.length === 1 && { fill: `${colourOf(line.colour)}1f` }),
      })),
    ],
  };
}

function dataOf(props: ChartProps): uPlot.AlignedData {
  const last = props.times.at(-1) ?? 0;
  const from = props.span
    ? Math.max(
        0,
        props.times.findIndex((time) => time >= last - (props.span ?? 0)),
      )
    : 0;
  return [
    props.times.slice(from),
    ...props.lines.map((line) => {
      const values = line.values.slice(from);
      while (values.length < props.times.length - from) values.push(null);
      return values;
    }),
  ];
}

export function Chart(props: ChartProps) {
  const theme = useStudio((state) => isDark(state.theme));
  const shape = `${theme ? "dark" : "light"} ${props.lines.map((l) => l.label + l.colour).join("|")}`;
  const last = props.lines[0]?.values.at(-1);
  return (
    <figure className="chart" data-testid={props.testId} data-last={last ?? ""}>
      <figcaption>
        <span>{props.title}</span>
        {!props.over && <strong>{props.show(last)}</strong>}
      </figcaption>
      <Plot key={shape} {...props} />
    </figure>
  );
}

function Plot(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const first = useRef(props);
  const events = useRef(props.events ?? []);
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const made = new uPlot(
      {
        ...options(first.current, Math.max(80, element.clientWidth)),
        hooks: { draw: [(drawn) => drawMarkers(drawn, events.current)] },
      },
      dataOf(first.current),
      element,
    );
    plot.current = made;
    const watcher = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && width !== made.width) made.setSize({ width, height: made.height });
    });
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.current = null;
      made.destroy();
    };
  }, []);
  useEffect(() => {
    events.current = props.events ?? [];
    plot.current?.setData(dataOf(props));
  });
  return <div ref={host} className="plot" role="img" aria-label={props.title} />;
}
