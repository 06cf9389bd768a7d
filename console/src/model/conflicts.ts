/** Two people changed one record: what each changed, and what is saved in the end. */

import type { Field } from "./fields";
import { isTwin } from "./roles";
import { equal } from "./values";

export interface Conflict {
  field: Field;
  /** The value that both began from. */
  base: unknown;
  mine: unknown;
  theirs: unknown;
  /** Both changed it, to different values. */
  both: boolean;
}

export type Choice = "mine" | "theirs";

type Values = Record<string, unknown>;

/**
 * The fields that somebody changed, where the versions that are shown differ now. A date in UTC repeats the one in the
 * site's zone, and forms show minutes.
 */
export function conflictsOf(fields: Field[], base: Values, mine: Values, theirs: Values): Conflict[] {
  const twins = Object.fromEntries(fields.map((field) => [field.path, field.schema]));
  return fields
    .filter((field) => !field.readOnly && !isTwin(field.path, twins) && !looksEqual(field, mine[field.path], theirs[field.path]))
    .filter((field) => mine[field.path] !== undefined || theirs[field.path] !== undefined)
    .map((field) => ({
      field,
      base: base[field.path],
      mine: mine[field.path],
      theirs: theirs[field.path],
      both: !equal(mine[field.path], base[field.path]) && !equal(theirs[field.path], base[field.path]),
    }));
}

function looksEqual(field: Field, one: unknown, other: unknown): boolean {
  const minutes = (value: unknown): unknown => (field.control === "date-time" && typeof value === "string" ? value.slice(0, 16) : value);
  return equal(minutes(one), minutes(other));
}

/** What is taken where nobody says otherwise: the value of whoever changed it; mine where both did. */
export function proposed(conflict: Conflict): Choice {
  return equal(conflict.mine, conflict.base) ? "theirs" : "mine";
}

/** The values of the form after the choice. They are saved on top of theirs. */
export function merged(fields: Field[], mine: Values, theirs: Values, choices: Record<string, Choice>): Values {
  const values: Values = { ...mine };
  for (const field of fields) {
    const choice = choices[field.path] ?? (Object.hasOwn(theirs, field.path) ? "theirs" : "mine");
    if (choice === "theirs") {
      values[field.path] = theirs[field.path];
    }
  }
  return values;
}
