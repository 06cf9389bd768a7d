export { dashboard } from "./dashboard";
export { editor } from "./editor";
export { files } from "./files";
export { forms } from "./forms";
export { lists } from "./lists";
export { people } from "./people";
export { shell } from "./shell";
export { ui } from "./ui";
