/** What every layout is given. */

import type { ComponentChildren } from "preact";
import type { Id, Item } from "../api/adapter";
import type { FieldHints, Resource } from "../api/description";
import type { Schema } from "../api/schema";
import type { ListView } from "../model/view-state";
import type { MenuItem } from "../ui";

export interface Row {
  item: Item;
  id: Id;
  /** What the record is called. */
  title: string;
  /** Where it is opened; null: the caller may not. */
  path: string | null;
  /** The caller may read it, but not change it. */
  fixed?: boolean;
  /** Others who have it open. */
  openedBy?: string | undefined;
  /** In a tree: how deep it is, and whether it has records below it. */
  level?: number;
  open?: boolean | null;
  /** It is no record: it reads further ones. */
  more?: () => Promise<void>;
  busy?: boolean;
}

export interface Column {
  field: string;
  label: string;
  hints: FieldHints;
  schema: Schema;
  /** The list can be sorted by it. */
  sortable: boolean;
}

export interface QuickAction {
  name: string;
  label: string;
  /** It is so already. */
  pressed: boolean;
  run: () => void;
}

export interface LayoutProps {
  resource: Resource;
  /** Name of the list for assistive technology. */
  label: string;
  rows: Row[];
  columns: Column[];
  view: ListView;
  selected: ReadonlySet<string>;
  /** Whether records can be selected: there is something to do with them. */
  selectable: boolean;
  onSelect: (ids: Id[], on: boolean) => void;
  onSort: (field: string) => void;
  /** What can be done with a record. */
  menu: (row: Row) => MenuItem[];
  /** States that a record is put into with one press. */
  quick: (row: Row) => QuickAction[];
  /** A value of a record, or the control that changes it. */
  cell: (row: Row, column: Column) => ComponentChildren;
  tree?: TreeActions | undefined;
}

export interface TreeActions {
  toggle: (row: Row) => void;
  /** Null: the order is not kept. */
  move: ((row: Row, step: "up" | "down" | "in" | "out") => void) | null;
  drop: ((row: Row, target: Row, where: "before" | "inside" | "after") => void) | null;
}
