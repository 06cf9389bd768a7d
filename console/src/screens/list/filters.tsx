/** The filters that a list offers, and what its screens know of each. */

import type { JSX } from "preact";
import { type Args, type Schema, typesOf } from "../../api/schema";
import { t } from "../../i18n";
import { ARGUMENT, filterOffers } from "../../model/list-query";
import { labelOfField } from "../../model/record";
import type { ListView } from "../../model/view-state";
import { Menu } from "../../ui";
import type { ListingProps } from "./listing";

export interface FiltersProps extends ListingProps {
  view: ListView;
  show: (change: Partial<ListView>, replace?: boolean) => void;
}

const OPERATOR_TEXTS = ["eq", "ne", "lt", "le", "gt", "ge", "in", "not_in", "set", "contains", "any", "all", "none", "is"] as const;
type OperatorText = (typeof OPERATOR_TEXTS)[number];

export function operatorLabel(operator: string): string {
  const known = OPERATOR_TEXTS.find((name) => name === operator);
  return known === undefined ? operator : t(`lists.operator_${known satisfies OperatorText}`);
}

export function nameOf(field: string): string {
  return field.startsWith(ARGUMENT) ? field.slice(ARGUMENT.length) : field;
}

/** What is compared: the schema of the property, or of the argument. */
export function schemaOf(field: string, props: ListingProps): Schema {
  const name = nameOf(field);
  const args: Args = props.schema.args["list"] ?? {};
  return (field.startsWith(ARGUMENT) ? args[name] : props.schema.schema.properties?.[name]) ?? {};
}

/** The comparison that somebody most likely wants. */
function usualOperator(operators: string[], schema: Schema): string {
  const format = schema.format ?? "";
  const order = format.startsWith("date") ? ["ge", "le"] : ["any", "contains", "in", "eq"];
  if (typesOf(schema).includes("boolean")) order.unshift("eq");
  return order.find((name) => operators.includes(name)) ?? operators[0] ?? "eq";
}

export function AddFilter(props: FiltersProps): JSX.Element | null {
  const { resource, schema, view, show } = props;
  const offers = filterOffers(resource, schema.args["list"] ?? {});
  if (offers.length === 0) return null;
  const items = offers.map((offer) => ({
    name: offer.field,
    label: labelOfField(resource, nameOf(offer.field)),
    onSelect: () => {
      const operator = usualOperator(offer.operators, schemaOf(offer.field, props));
      show({ filters: [...view.filters, { field: offer.field, operator, value: [""] }] });
    },
  }));
  return (
    <Menu label={t("lists.add_filter")} icon="filter" kind="normal" placement="bottom-start" items={items}>
      {t("lists.filter")}
    </Menu>
  );
}
