/** Icons by name: lines on a square of 24, drawn in the colour of the text. */

import type { JSX } from "preact";

const PATHS = {
  add: "M12 5v14M5 12h14",
  alert: "M12 9v4M12 17h.01M10.3 3.9 2.4 17.6A2 2 0 0 0 4.1 20.6h15.8a2 2 0 0 0 1.7-3L13.7 3.9a2 2 0 0 0-3.4 0Z",
  "align-center": "M4 6h16M7 12h10M5 18h14",
  "align-full": "M3 5h18M3 19h18M6 9h12v6H6z",
  "align-left": "M4 6h16M4 12h10M4 18h13",
  "align-right": "M4 6h16M10 12h10M7 18h13",
  "align-wide": "M5 5h14M5 19h14M3 9h18v6H3z",
  archive: "M4 8h16v12H4zM3 4h18v4H3zM10 12h4",
  back: "M19 12H5M11 6l-6 6 6 6",
  block: "M12 3 4 7.5v9L12 21l8-4.5v-9L12 3ZM4 7.5l8 4.5 8-4.5M12 12v9",
  bold: "M7 5h6a3.5 3.5 0 0 1 0 7H7zM7 12h7a3.5 3.5 0 0 1 0 7H7z",
  calendar: "M4 6h16v15H4zM4 10h16M8 3v5M16 3v5",
  check: "m5 12.5 4.5 4.5L19 7.5",
  "chevron-down": "m6 9 6 6 6-6",
  "chevron-left": "m14.5 6-6 6 6 6",
  "chevron-right": "m9.5 6 6 6-6 6",
  "chevron-up": "m6 15 6-6 6 6",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 7v5l3.5 2",
  close: "M6 6l12 12M18 6 6 18",
  code: "m8 7-5 5 5 5M16 7l5 5-5 5",
  columns: "M4 5h16v14H4zM12 5v14",
  comment: "M4 5h16v11H9l-5 4z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  crop: "M7 3v14h14M3 7h14v14",
  dashboard: "M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z",
  database: "M4 6c0-4 16-4 16 0v12c0 4-16 4-16 0zM4 6c0 4 16 4 16 0M4 12c0 4 16 4 16 0",
  document: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  drag: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
  edit: "m4 20 1-5L16 4l4 4L9 19zM13.5 6.5l4 4",
  external: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12ZM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  filter: "M4 5h16l-6 8v6l-4-2v-4z",
  folder: "M3 6h6l2 2h10v11H3z",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  heading: "M6 5v14M18 5v14M6 12h12",
  help: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .9-1 1.7M12 17h.01",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 2-2 5 5M15 9h.01",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 11v5M12 8h.01",
  italic: "M10 5h8M6 19h8M14 5l-4 14",
  key: "M14.5 3.5a6 6 0 1 0 4.7 9.7 6 6 0 0 0-4.7-9.7ZM10 13l-7 7v1h4v-3h3v-3M16 8h.01",
  keyboard: "M3 7h18v11H3zM7 11h.01M11 11h.01M15 11h.01M8 14.5h8",
  link: "M10 14a4 4 0 0 0 5.7 0l3.6-3.6a4 4 0 0 0-5.7-5.7L12 6.3M14 10a4 4 0 0 0-5.7 0l-3.6 3.6a4 4 0 0 0 5.7 5.7L12 17.7",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  "list-ordered": "M9 6h11M9 12h11M9 18h11M4 4.5 5 4v4M4 11c2-1.5 2.5.5 0 3h2.2M4 17h1.5l-.8 1.3c1.5 0 1.5 1.9-.7 1.7",
  lock: "M6 11h12v9H6zM8.5 11V7.5a3.5 3.5 0 0 1 7 0V11",
  logout: "M10 4H5v16h5M15 8l4 4-4 4M19 12H9",
  menu: "M4 6h16M4 12h16M4 18h16",
  minus: "M4 12h16",
  moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5Z",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  music: "M9 18V5l11-2v13M9 18a3 3 0 1 1-6 0 3 3 0 0 1 6 0ZM20 16a3 3 0 1 1-6 0 3 3 0 0 1 6 0Z",
  page: "M6 3h12v18H6zM9 8h6M9 12h6M9 16h3",
  palette: "M12 3a9 9 0 1 0 0 18c2 0 2-1.5 1.3-2.5-.8-1.2 0-2.5 1.7-2.5h2a4 4 0 0 0 4-4c0-5-4-9-9-9ZM7.5 12h.01M9.5 8h.01M14.5 8h.01",
  pin: "M12 21v-6M7 15h10l-2-4V4H9v7z",
  quote: "M5 17c3-1 4-3 4-6H5V6h5v5c0 4-2 7-5 8zM14 17c3-1 4-3 4-6h-4V6h5v5c0 4-2 7-5 8z",
  redo: "M15 14l5-5-5-5M20 9H9a5 5 0 0 0 0 10h4",
  refresh: "M20 11a8 8 0 1 0-1 5M20 5v6h-6",
  restore: "M4 11a8 8 0 1 1 1 5M4 5v6h6M12 8v4l3 2",
  rotate: "M20 11a8 8 0 1 0-2.3 5.7M20 5v6h-6",
  save: "M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM15.5 15.5 21 21",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM8 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z",
  shield: "M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6z",
  sort: "M8 5v14M4.5 15.5 8 19l3.5-3.5M16 19V5M12.5 8.5 16 5l3.5 3.5",
  split: "M4 5h7v14H4zM13 5h7v14h-7z",
  star: "m12 4 2.5 5.2 5.7.8-4.1 4 1 5.7-5.1-2.7-5.1 2.7 1-5.7-4.1-4 5.7-.8z",
  strike: "M4 12h16M16 7.5C15.5 5.5 13.8 5 12 5c-2.5 0-4 1.2-4 3 0 1 .5 1.8 1.4 2.4M8 16.5c.5 2 2.2 2.5 4 2.5 2.5 0 4-1.2 4-3 0-.8-.3-1.5-.8-2",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5",
  table: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 10v9",
  tag: "M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01",
  text: "M5 6h14M12 6v13",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  tree: "M5 4v13h4M5 9h4M12 7h8v4h-8zM12 15h8v4h-8z",
  underline: "M7 4v7a5 5 0 0 0 10 0V4M5 20h14",
  undo: "M9 14 4 9l5-5M4 9h11a5 5 0 0 1 0 10h-4",
  upload: "M12 16V5M7 9l5-5 5 5M4 20h16",
  user: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM4 20c0-4 4-6 8-6s8 2 8 6",
  users: "M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM2 20c0-4 3.5-6 7-6s7 2 7 6M16 5a3.5 3.5 0 0 1 0 7M18.5 14.5c2 .7 3.5 2.5 3.5 5.5",
  video: "M3 6h13v12H3zM16 11l5-3v8l-5-3",
  warning: "M12 9v4M12 17h.01M10.3 3.9 2.4 17.6A2 2 0 0 0 4.1 20.6h15.8a2 2 0 0 0 1.7-3L13.7 3.9a2 2 0 0 0-3.4 0Z",
} as const;

export type IconName = keyof typeof PATHS;

/** Whether there is an icon of this name: names come from declarations, too. */
export function isIcon(name: string): name is IconName {
  return name in PATHS;
}

/** An icon; what it means is said by the text or the label beside it. A name that is unknown shows a document. */
export function Icon({ name, size = 18 }: { name: string; size?: number }): JSX.Element {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[isIcon(name) ? name : "document"]} />
    </svg>
  );
}
