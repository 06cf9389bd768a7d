/** States as tabs, each with the number of its records. */

import type { JSX } from "preact";
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
  const shown = states.filter((state) => state.name === view.state || (counts?.get(state.name) ?? 0) > 0);
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
