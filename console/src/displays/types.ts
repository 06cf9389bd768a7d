/** What every display is given. */

import type { ComponentChildren } from "preact";
import type { Item } from "../api/adapter";
import type { FieldHints, Resource } from "../api/description";
import type { Schema } from "../api/schema";

export interface DisplayProps {
  value: unknown;
  /** The record that has the value. */
  item: Item;
  /** Name of the property; `a.b` for what is nested. */
  field: string;
  resource: Resource;
  hints: FieldHints;
  schema: Schema;
}

export type Display = (props: DisplayProps) => ComponentChildren;
