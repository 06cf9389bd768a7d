/** The filters of a list that are in use: each is a property, a comparison and a value. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, findResource } from "../../api";
import { idOf } from "../../api/adapter";
import { type Schema, typesOf } from "../../api/schema";
import { related } from "../../displays/related";
import { t } from "../../i18n";
import { filterOffers, LISTED } from "../../model/list-query";
import { searchRecords } from "../../model/search";
import { humanName, labelOf, labelOfField } from "../../model/record";
import type { Filter } from "../../model/view-state";
import { Button } from "../../ui";
import { type Choice, Combobox } from "../../ui/combobox";
import { type FiltersProps, nameOf, operatorLabel, schemaOf } from "./filters";

export function FilterBar(props: FiltersProps): JSX.Element {
  const { view, show } = props;
  const change = (place: number, filter: Filter | null): void => {
    const filters = view.filters.flatMap((one, at) => (at !== place ? [one] : filter === null ? [] : [filter]));
    show({ filters }, true);
  };
  return (
    <div class="filters" role="group" aria-label={t("lists.filters")}>
      {view.filters.map((filter, place) => (
        <FilterRow key={`${place} ${filter.field}`} filter={filter} props={props} onChange={(next) => change(place, next)} />
      ))}
      <Button kind="quiet" small onClick={() => show({ filters: [] })}>
        {t("lists.clear_filters")}
      </Button>
    </div>
  );
}

interface FilterRowProps {
  filter: Filter;
  props: FiltersProps;
  onChange: (filter: Filter | null) => void;
}

function FilterRow({ filter, props, onChange }: FilterRowProps): JSX.Element {
  const { resource, schema } = props;
  const label = labelOfField(resource, nameOf(filter.field));
  const offer = filterOffers(resource, schema.args["list"] ?? {}).find((one) => one.field === filter.field);
  const operators = offer?.operators ?? [filter.operator];
  return (
    <div class="filter">
      <span class="filter-name">{label}</span>
      {operators.length > 1 && (
        <select
          class="select"
          aria-label={t("lists.operator_of", { name: label })}
          value={filter.operator}
          onChange={(event) => onChange(withOperator(filter, event.currentTarget.value))}
        >
          {operators.map((operator) => (
            <option key={operator} value={operator}>
              {operatorLabel(operator)}
            </option>
          ))}
        </select>
      )}
      <ValueField filter={filter} label={label} props={props} onChange={(value) => onChange({ ...filter, value })} />
      <Button kind="quiet" small icon="close" label={t("lists.remove_filter", { name: label })} onClick={() => onChange(null)} />
    </div>
  );
}

/** Another comparison keeps the value where it makes sense. */
function withOperator(filter: Filter, operator: string): Filter {
  if (operator === "set") return { ...filter, operator, value: ["true"] };
  if (filter.operator === "set") return { ...filter, operator, value: [""] };
  return { ...filter, operator, value: LISTED.has(operator) ? filter.value : filter.value.slice(0, 1) };
}

interface ValueProps {
  filter: Filter;
  label: string;
  props: FiltersProps;
  onChange: (value: string[]) => void;
}

function ValueField(given: ValueProps): JSX.Element {
  const { filter, props } = given;
  const name = nameOf(filter.field);
  const schema = schemaOf(filter.field, props);
  const hints = props.resource.fields[name];
  if (filter.operator === "set") return <YesNo {...given} />;
  if (hints?.relation !== undefined) return <RelationValue {...given} resource={hints.relation.resources[0] ?? ""} />;
  const values = schema.enum ?? schema.items?.enum ?? Object.keys(hints?.labels ?? {});
  if (values.length > 0) {
    const choices = values.map((value) => ({ value: String(value), label: hints?.labels?.[String(value)] ?? humanName(String(value)) }));
    return <ChoiceValue {...given} choices={choices} />;
  }
  if (typesOf(schema).includes("boolean")) return <YesNo {...given} />;
  return <TypedValue {...given} schema={schema} />;
}

function YesNo({ filter, label, onChange }: ValueProps): JSX.Element {
  return (
    <select class="select" aria-label={label} value={filter.value[0] ?? ""} onChange={(event) => onChange([event.currentTarget.value])}>
      <option value="">{t("lists.choose")}</option>
      <option value="true">{t("lists.yes")}</option>
      <option value="false">{t("lists.no")}</option>
    </select>
  );
}

function isMany(filter: Filter, props: FiltersProps): boolean {
  return LISTED.has(filter.operator) || (filter.operator === "is" && typesOf(schemaOf(filter.field, props)).includes("array"));
}

function ChoiceValue({ filter, label, props, onChange, choices }: ValueProps & { choices: Choice[] }): JSX.Element {
  const chosen = choices.filter((choice) => filter.value.includes(choice.value));
  return (
    <Combobox
      label={label}
      multiple={isMany(filter, props)}
      choices={choices}
      value={chosen}
      onChange={(next) => onChange(next.length === 0 ? [""] : next.map((choice) => choice.value))}
    />
  );
}

function RelationValue({ filter, label, props, onChange, resource: name }: ValueProps & { resource: string }): JSX.Element {
  const resource = findResource(name);
  const ids = filter.value.filter((id) => id !== "");
  const chosen = ids.map((id) => {
    const item = related(name, /^\d+$/.test(id) ? Number(id) : id).value;
    const text = resource === undefined || item === null || item === undefined ? `#${id}` : labelOf(resource, item, (own) => `#${own}`);
    return { value: id, label: text };
  });
  const search = async (text: string, signal: AbortSignal): Promise<Choice[]> => {
    if (resource === undefined) return [];
    const items = await searchRecords(api(), resource, text, { signal });
    return items.map((item) => ({ value: String(idOf(resource, item)), label: labelOf(resource, item, (own) => `#${own}`) }));
  };
  return (
    <Combobox
      label={label}
      multiple={isMany(filter, props)}
      search={search}
      value={chosen}
      onChange={(next) => onChange(next.length === 0 ? [""] : next.map((choice) => choice.value))}
    />
  );
}

const INPUTS: Record<string, "datetime-local" | "date" | "email"> = { "date-time": "datetime-local", date: "date", email: "email" };

/** Requests take times with their seconds, which the field leaves out when they are zero. */
function wholeTime(text: string): string {
  return /T\d\d:\d\d$/.test(text) ? `${text}:00` : text;
}

/** A value that is typed: it counts when somebody leaves the field or presses Enter. */
function TypedValue({ filter, label, onChange, schema }: ValueProps & { schema: Schema }): JSX.Element {
  const [text, setText] = useState(filter.value.join(", "));
  useEffect(() => setText(filter.value.join(", ")), [filter.value.join(",")]);
  const types = typesOf(schema);
  const numeric = types.includes("integer") || types.includes("number");
  const many = LISTED.has(filter.operator);
  const type = many ? "text" : numeric ? "number" : (INPUTS[schema.format ?? ""] ?? "text");
  const done = (): void => {
    const value = many ? text.split(",").map((one) => one.trim()) : [type === "datetime-local" ? wholeTime(text) : text.trim()];
    if (value.join(",") !== filter.value.join(",")) onChange(value);
  };
  return (
    <input
      class="input"
      {...({ type } as object)}
      step={numeric ? "any" : undefined}
      aria-label={label}
      placeholder={many ? t("lists.separated") : undefined}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === "Enter" && done()}
    />
  );
}
