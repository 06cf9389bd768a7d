/** The content editor. Load it by `import()`: it is the largest part of the console and few screens need it. */
export { Editor, Editor as default } from "./Editor";
export type * from "./types";
