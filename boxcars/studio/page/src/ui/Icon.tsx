/** The icons of the page: thin strokes on a grid of 24. */

const PATHS = {
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  redo: "m15 14 5-5-5-5M20 9H10a6 6 0 0 0 0 12h3",
  save: "M5 3h11l5 5v11a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM7 3v5h8V3M7 21v-7h10v7",
  open: "M3 6a2 2 0 0 1 2-2h4l2 3h8a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z",
  play: "M7 4.5v15l12-7.5z",
  stop: "M6 6h12v12H6z",
  pause: "M8 5v14M16 5v14",
  step: "M6 5v14l9-7zM19 5v14",
  back: "M18 5v14l-9-7zM5 5v14",
  end: "M4 5v14l8-7zM12 5v14l8-7z",
  layout: "M3 4h7v6H3zM14 14h7v6h-7zM14 4h7v6h-7zM10 7h4M17.5 10v4",
  fit: "M8 3H3v5M16 3h5v5M8 21H3v-5M16 21h5v-5",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM21 21l-5-5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  help: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM9.5 9a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 16.5v.1",
  close: "M6 6l12 12M18 6 6 18",
  down: "m6 9 6 6 6-6",
  right: "m9 6 6 6-6 6",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6",
  group: "M4 4h6v6H4zM14 14h6v6h-6zM4 14h6v6H4zM14 4h6v6h-6z",
  ungroup: "M3 3h9v9H3zM12 9h9v12H9v-9",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  upload: "M12 20V9M7 12l5-5 5 5M4 4h16",
  file: "M6 2h8l5 5v15H6zM14 2v6h5",
  table: "M3 5h18v14H3zM3 10h18M3 15h18M9 5v14",
  test: "M9 3h6M10 3v6L4.5 18a2 2 0 0 0 1.7 3h11.6a2 2 0 0 0 1.7-3L14 9V3M7.5 14h9",
  diff: "M4 4h6v16H4zM14 4h6v16h-6zM6 9h2M16 9h2M16 13h2",
  warning: "M12 3 2 20h20zM12 10v4M12 17v.1",
  check: "m5 12.5 5 5L19.5 7",
  link: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  refresh:
    "M20 11a8 8 0 0 0-14.5-4L3 9.5M3 4v5.500h5.5M4 13a8 8 0 0 0 14.5 4l2.500-2.500M21 20v-5.500h-5.5",
  bolt: "M13 2 4 14h7l-1 8 9-12h-7z",
  chart: "M4 20V4M4 20h16M8 16l4-5 3 3 5-7",
  list: "M8 6h13M8 12h13M8 18h13M3.500 6h.1M3.500 12h.1M3.500 18h.1",
  swap: "M7 4v14M4 15l3 3 3-3M17 20V6M14 9l3-3 3 3",
  dot: "M12 7a5 5 0 1 1 0 10 5 5 0 0 1 0-10z",
  edit: "M4 20h4L20 8l-4-4L4 16zM14 6l4 4",
  code: "m8 7-5 5 5 5M16 7l5 5-5 5",
  layers: "m12 3 9 5-9 5-9-5zM3 13l9 5 9-5",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7zM12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  hourglass: "M7 3h10M7 21h10M8 3c0 5 8 6 8 9s-8 4-8 9M16 3c0 5-8 6-8 9s8 4 8 9",
  stack: "M4 9h11v11H4zM9 9V4h11v11h-5",
  new: "M6 2h8l5 5v15H6zM12.500 11v6M9.500 14h6",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
