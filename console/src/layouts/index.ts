/** How records are arranged, by name. */

import type { ComponentType } from "preact";
import type { LayoutName } from "../model/view-state";
import { GridLayout } from "./grid";
import { ListLayout } from "./list";
import { TableLayout } from "./table";
import type { LayoutProps } from "./types";

export const layouts: Record<LayoutName, ComponentType<LayoutProps>> = {
  table: TableLayout,
  list: ListLayout,
  grid: GridLayout,
  // A tree is a table whose rows have levels.
  tree: TableLayout,
};

export type { Column, LayoutProps, QuickAction, Row, TreeActions } from "./types";
