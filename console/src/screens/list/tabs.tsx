/** States as tabs, each with the number of its records. */

import type { JSX } from "preact";
import { argument } from "../../api/adapter";
import { number, t } from "../../i18n";
import { ALL, hasStates } from "../../model/list-states";
import { type ListView, writeView } from "../../model/view-state";
import { href } from "../../router";
import { NavTabs } from "../../ui";
import type { ListingProps } from "./listing";

interface StateTabsProps extends ListingProps {
  view: ListView;
  initial: ListView;
  counts: ReadonlyMap<string, number> | null;
  here: string;
}

export function StateTabs({ resource, states, schema, view, initial, counts, here }: StateTabsProps): JSX.Element | null {
  if (!hasStates(resource, schema.args["list"] ?? {})) return null;
  const all = counts?.get(ALL) ?? 0;
  // A state that all records have says no more than the first tab.
  const shown = states.filter((state) => {
    if (!argument(resource, "list", "_count_by")) return true;
    const count = counts?.get(state.name) ?? 0;
    return state.name === view.state || (count > 0 && (state.trash || state.public || count < all));
  });
  if (shown.length === 0 && counts !== null) return null;
  const address = (state: string): string => {
    const query = writeView({ ...view, state, page: 1 }, initial);
    return href(`${here}${query === "" ? "" : `?${query}`}`);
  };
  const count = (value: number | undefined): string | undefined => (value === undefined ? undefined : number(value));
  const tabs = [
    { name: ALL, label: t("lists.all"), count: count(counts?.get(ALL)), href: address(ALL) },
    ...shown.map((state) => ({ name: state.name, label: state.label, count: count(counts?.get(state.name)), href: address(state.name) })),
  ];
  return <NavTabs label={t("lists.states")} tabs={tabs} current={view.state} />;
}
