/** Where the messages of a refused request belong: on their fields, else above the form. */

import { paramsOf, paramText, type ServerError } from "../api/failure";
import type { Field } from "./fields";
import { isObject } from "./json-schema";
import { say, words } from "./labels";

export interface Placed {
  /** By place in the record, such as `starts` or `hours.0.from`. */
  fields: Record<string, string>;
  /** What belongs to no field of the form. */
  rest: string[];
}

export function place(error: ServerError, fields: Field[]): Placed {
  const placed: Placed = { fields: {}, rest: [] };
  const data = isObject(error.data) ? error.data : {};
  const details = isObject(data["details"]) ? data["details"] : {};
  const named = paramsOf(error);
  for (const [name, message] of Object.entries(named)) {
    const field = fields.find((one) => one.path === name);
    const text = paramText(error, name, message);
    if (field === undefined || field.readOnly) {
      placed.rest.push(text === null ? message : `${field?.label ?? say(words(name))}: ${text}`);
      continue;
    }
    // Where it is wrong is in what the server says.
    const inside = insideOf(message, field);
    if (inside !== null) {
      placed.fields[inside.at] = text ?? inside.message;
      continue;
    }
    const at = inner(details[name], name);
    placed.fields[at] = text ?? withLabel(message, at, field);
  }
  if (Object.keys(named).length === 0) {
    const at = typeof data["param"] === "string" ? pathOf(data["param"]) : "";
    const field = fields.find((one) => one.path === at.split(".")[0]);
    if (field === undefined || field.readOnly) {
      placed.rest.push(error.message);
    } else {
      placed.fields[at] = error.message;
    }
  }
  return placed;
}

/** A message about something inside a value begins with its place, or ends so: `hours[0][from] is no time.` */
function insideOf(message: string, field: Field): { at: string; message: string } | null {
  const found = [...message.matchAll(/(?:^|: )([\w-]+)((?:\[[^\]]*\])+) /g)].at(-1);
  if (found === undefined || found[1] !== field.path) {
    return null;
  }
  const at = pathOf(`${found[1]}${found[2] ?? ""}`);
  let here: Field | undefined = field;
  for (const name of at.split(".").slice(1)) {
    here = memberOf(here, name) ?? undefined;
  }
  if (here === undefined) {
    return null;
  }
  const rest = message.slice(found.index + found[0].length);
  return { at, message: here.label === "" ? rest : `${here.label} ${rest}` };
}

/** The place inside a field, where the details name one: `hours[0][from]`. */
function inner(detail: unknown, name: string): string {
  const data = isObject(detail) && isObject(detail["data"]) ? detail["data"] : {};
  const path = typeof data["param"] === "string" ? pathOf(data["param"]) : name;
  return path === name || path.startsWith(`${name}.`) ? path : name;
}

/** `hours[0][from]` is `hours.0.from`. */
export function pathOf(param: string): string {
  return param.replace(/\[([^\]]*)\]/g, ".$1");
}

/** Messages begin with the name of the argument; people know the label. */
function withLabel(message: string, at: string, field: Field): string {
  const param = at.split(".").map((part, index) => (index === 0 ? part : `[${part}]`)).join("");
  for (const name of [param, field.path]) {
    if (message.startsWith(`${name} `)) {
      const rest = message.slice(name.length + 1);
      return `${at === field.path ? field.label : name === param ? at.slice(field.path.length + 1) : field.label} ${rest}`;
    }
  }
  return message;
}

/** The names of a place, from the field down, as people read them: `hours.0.from` is "Hours › Item 1 › From". */
export function namesOf(at: string, fields: Field[], item: (place: number) => string): string {
  const [top, ...inside] = at.split(".");
  const names: string[] = [];
  let here = fields.find((field) => field.path === top);
  names.push(here?.label ?? top ?? "");
  for (const part of inside) {
    const next: Field | null | undefined = memberOf(here, part);
    const label = next !== null && next !== undefined && next.label !== "" ? next.label : /^\d+$/.test(part) ? item(Number(part) + 1) : part;
    names.push(label);
    here = next ?? undefined;
  }
  return names.join(" › ");
}

function memberOf(field: Field | undefined, name: string): Field | null | undefined {
  if (field === undefined) {
    return undefined;
  }
  const inside = field.alternatives.map((alternative) => memberOf(alternative, name)).find((found) => found !== null && found !== undefined);
  return field.children.find((child) => child.name === name) ?? field.item ?? inside;
}

/** A member `raw` is edited as the field itself. */
export function shownAt(placed: Placed, fields: Field[]): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [at, message] of Object.entries(placed.fields)) {
    const top = fields.find((field) => field.path === at.split(".")[0]);
    shown[top?.wrapped === true ? top.path : at] = message;
  }
  return shown;
}
