/** Records in a panel: their names with a few facts, and what can be done with each. */

import type { ComponentChildren, JSX } from "preact";
import { idOf, type Id, type Item } from "../api/adapter";
import type { Resource } from "../api/description";
import type { Schema } from "../api/schema";
import { Shown } from "../displays";
import { t } from "../i18n";
import { labelOf, labelOfField, titleField, valueAt } from "../model/record";
import { href, places } from "../router";

interface RowsProps {
  resource: Resource;
  items: Item[];
  schema: Schema;
  /** Names have links to the screens of the records. */
  linked: boolean;
  actions?: (item: Item, id: Id, title: string) => ComponentChildren;
}

/** So many facts are shown beside a name. */
const FACTS = 4;

export function RelatedRows({ resource, items, schema, linked, actions }: RowsProps): JSX.Element {
  const fields = (resource.view.default_view.fields ?? []).filter((field) => field !== titleField(resource)).slice(0, FACTS);
  return (
    <table class="record-table">
      <caption class="hidden-visually">{resource.label}</caption>
      <thead>
        <tr>
          <th scope="col">{resource.singular}</th>
          {fields.map((field) => (
            <th key={field} scope="col">
              {labelOfField(resource, field)}
            </th>
          ))}
          {actions !== undefined && (
            <th scope="col">
              <span class="hidden-visually">{t("people.actions")}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => {
          const id = idOf(resource, item);
          const title = labelOf(resource, item, (own) => `${resource.singular} ${own}`);
          return (
            <tr key={id}>
              <th scope="row">{linked ? <a href={href(places.item(resource.name, id))}>{title}</a> : title}</th>
              {fields.map((field) => (
                <td key={field} data-label={labelOfField(resource, field)}>
                  <Shown value={valueAt(item, field)} item={item} field={field} resource={resource} hints={resource.fields[field] ?? {}} schema={schema.properties?.[field] ?? {}} />
                </td>
              ))}
              {actions !== undefined && <td class="record-actions">{actions(item, id, title)}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
