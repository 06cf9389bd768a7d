/** The component to each control of the table (`model/control-table.ts`). The compiler refuses a row without one. */

import type { ControlName } from "../model/control-table";
import { Checkboxes, Radio, Select } from "./choices";
import { Colour } from "./colour";
import { DateOnly, DateTime, TimeOnly } from "./dates";
import { FileControl } from "./file";
import { Json } from "./json";
import { List } from "./list";
import { MapControl } from "./map";
import { Markup } from "./markup";
import { MultiLine } from "./multi-line";
import { IntegerControl, NumberControl } from "./number";
import { ObjectControl } from "./object";
import { Password } from "./password";
import { Relation } from "./relation";
import { SearchResult } from "./search-result";
import { Slug } from "./slug";
import { StateControl } from "./state";
import { Switch } from "./switch";
import { Terms } from "./terms";
import { Address, Email, Headline, Ip, Text, Uuid } from "./text";
import { TimeZone } from "./time-zone";
import { Tokens } from "./tokens";
import type { ControlComponent } from "./types";
import { Union } from "./union";

const COMPONENTS: Record<ControlName, ControlComponent> = {
  state: StateControl,
  slug: Slug,
  password: Password,
  markup: Markup,
  headline: Headline,
  "date-time": DateTime,
  date: DateOnly,
  time: TimeOnly,
  "time-zone": TimeZone,
  colour: Colour,
  "e-mail": Email,
  address: Address,
  ip: Ip,
  uuid: Uuid,
  file: FileControl,
  terms: Terms,
  relation: Relation,
  checkboxes: Checkboxes,
  radio: Radio,
  select: Select,
  "multi-line": MultiLine,
  text: Text,
  integer: IntegerControl,
  number: NumberControl,
  switch: Switch,
  tokens: Tokens,
  list: List,
  meta: ObjectControl,
  object: ObjectControl,
  "search-result": SearchResult,
  union: Union,
  map: MapControl,
  json: Json,
};

/** Controls of several elements: their label names the group. */
const GROUPS: ReadonlySet<ControlName> = new Set<ControlName>(["file", "terms", "checkboxes", "radio", "list", "union", "map", "markup"]);

export function componentOf(control: ControlName): ControlComponent {
  return COMPONENTS[control];
}

export function isGroup(control: ControlName): boolean {
  return GROUPS.has(control);
}
