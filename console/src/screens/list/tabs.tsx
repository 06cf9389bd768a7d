/** States as tabs, each with the number of its records, and the views that are declared beside them. */

import type { JSX } from "preact";
import type { State } from "../../api/description";
import { number, t } from "../../i18n";
import { ALL, hasStates } from "../../model/list-states";
import { type ListView, namedViews, same, writeView } from "../../model/view-state";
import { href } from "../../router";
import { NavTabs } from "../../ui";
import type { ListingProps } from "./listing";

interface StateTabsProps extends ListingProps {
  view: ListView;
  initial: ListView;
  counts: ReadonlyMap<string, number> | null;
  /** Counts are on their way; without them every state has its tab. */
  counting: boolean;
  here: string;
}

export function StateTabs(props: StateTabsProps): JSX.Element | null {
  const { resource, view, initial, counts, here } = props;
  const states = shownStates(props);
  const named = namedViews(resource, initial);
  if (states === null && named.length === 0) return null;
  const address = (next: ListView): string => {
    const query = writeView(next, initial);
    return href(`${here}${query === "" ? "" : `?${query}`}`);
  };
  const count = (state: string): string | undefined => {
    const value = counts?.get(state);
    return value === undefined ? undefined : number(value);
  };
  const selects = ({ state, filters, sort }: ListView): unknown => [state, filters, sort];
  const current = named.find((one) => same(selects(one.view), selects(view)));
  // A state keeps the search and the filters; a declared view brings its own.
  const tabs = [
    { name: ALL, label: t("lists.all"), count: count(ALL), href: address({ ...view, ...(current === undefined ? {} : { filters: [] }), state: ALL, page: 1 }) },
    ...(states ?? []).map((state) => ({ name: state.name, label: state.label, count: count(state.name), href: address({ ...view, state: state.name, page: 1 }) })),
    ...named.map((one) => ({ name: `view ${one.name}`, label: one.title, href: address(one.view) })),
  ];
  return <NavTabs label={t("lists.states")} tabs={tabs} current={current === undefined ? view.state : `view ${current.name}`} />;
}

/** Null: there is nothing to choose. */
function shownStates({ resource, states, schema, view, counts, counting }: StateTabsProps): State[] | null {
  if (!hasStates(resource, schema.args["list"] ?? {})) return null;
  if (counts === null && !counting) return states;
  const all = counts?.get(ALL) ?? 0;
  // A state that all records have says no more than the first tab, unless it is the one that visitors see.
  const shown = states.filter((state) => {
    const count = counts?.get(state.name) ?? 0;
    return state.name === view.state || (count > 0 && (state.trash || state.public || count < all));
  });
  return shown.length === 0 && counts !== null ? null : shown;
}
