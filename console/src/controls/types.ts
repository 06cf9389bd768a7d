/** What every control is given. */

import type { JSX } from "preact";
import type { Adapter } from "../api/adapter";
import type { Description, Resource, State } from "../api/description";
import type { Schemas } from "../api/schema";
import type { Field } from "../model/fields";
import type { FieldIds } from "../ui";

/** The form around a control: what it may ask, and what it must tell. */
export interface FormScope {
  description: Description;
  adapter: Adapter;
  schemas: Schemas;
  resource: Resource;
  /** The record's id; null: it is new. */
  id: string | null;
  /** The value of another field; a component that reads it while rendering follows it. */
  read(path: string): unknown;
  /** The record as the server has it; empty for a new one. */
  record(): Record<string, unknown>;
  /** The message at a place of the record. */
  error(at: string): string | undefined;
  /** The text of a control is no value; null: it is again. */
  setBroken(at: string, message: string | null): void;
  /** Registers what tells a late value, `settled` where it is to be saved; returns what takes it back. */
  onFlush(flush: (settled: boolean) => void): () => void;
  /** States that records of this resource can have. */
  states: State[];
  /** Values that the caller may not choose, by property. */
  barred(path: string): unknown[];
  /** The caller may write any HTML. */
  unfilteredHtml: boolean;
}

export interface ControlProps {
  field: Field;
  /** Place in the record, such as `hours.0.from`. */
  at: string;
  ids: FieldIds;
  value: unknown;
  onChange(value: unknown): void;
  readOnly: boolean;
  form: FormScope;
}

export type ControlComponent = (props: ControlProps) => JSX.Element | null;

/** An option of a control that is a text. */
export function textOption(field: Field, name: string): string | undefined {
  const value = field.options[name];
  return typeof value === "string" ? value : undefined;
}

/** An option of a control that is a number. */
export function numberOption(field: Field, name: string): number | undefined {
  const value = field.options[name];
  return typeof value === "number" ? value : undefined;
}
