/** Search, and how a list looks. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n";
import { labelOfField, titleField } from "../../model/record";
import { layoutsOf, type ListView, PAGE_SIZES } from "../../model/view-state";
import { prefer, preference } from "../../shell/preferences";
import { Button, Dialog, Field, Icon } from "../../ui";
import type { ListingProps } from "./listing";
import { AddFilter } from "./filters";
import { SavedViews } from "./saved";

interface ToolbarProps extends ListingProps {
  view: ListView;
  initial: ListView;
  show: (change: Partial<ListView>, replace?: boolean) => void;
  /** Somebody has changed how the list looks. */
  onLook: (view: ListView) => void;
}

const ICONS: Record<string, string> = { table: "table", list: "list", grid: "grid", tree: "tree" };
const PAUSE = 250;

export function Toolbar(props: ToolbarProps): JSX.Element {
  const { resource, view, show, onLook, schema } = props;
  const [options, setOptions] = useState(false);
  const layouts = layoutsOf(resource);
  const look = (change: Partial<ListView>): void => {
    onLook({ ...view, ...change });
    show(change);
  };
  return (
    <div class="toolbar">
      {"search" in (schema.args["list"] ?? {}) && <Search key={resource.name} {...props} />}
      <AddFilter {...props} />
      <SavedViews resource={resource} view={view} initial={props.initial} />
      <span class="spread row">
        {layouts.length > 1 && (
          <span class="segments" role="group" aria-label={t("lists.layout")}>
            {layouts.map((name) => (
              <Button key={name} kind="quiet" icon={ICONS[name]} label={t(`lists.layout_${name}`)} aria-pressed={view.layout === name} onClick={() => look({ layout: name })} />
            ))}
          </span>
        )}
        <Button icon="settings" onClick={() => setOptions(true)}>
          {t("lists.view")}
        </Button>
      </span>
      {options && <ViewOptions {...props} look={look} onClose={() => setOptions(false)} />}
    </div>
  );
}

function Search({ resource, view, show }: ToolbarProps): JSX.Element {
  const [text, setText] = useState(view.search);
  const sent = useRef(view.search);
  const label = resource.labels["search_items"] ?? t("lists.search");
  useEffect(() => {
    // The address has changed by other means, such as "back".
    if (view.search !== sent.current) setText(view.search);
    sent.current = view.search;
  }, [view.search]);
  useEffect(() => {
    if (text.trim() === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = text.trim();
      show({ search: text.trim() }, true);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <search class="list-search">
      <Icon name="search" size={16} />
      <input type="search" class="input" aria-label={label} placeholder={label} value={text} maxLength={1600} onInput={(event) => setText(event.currentTarget.value)} />
    </search>
  );
}

interface OptionsProps extends ToolbarProps {
  look: (change: Partial<ListView>) => void;
  onClose: () => void;
}

function ViewOptions({ resource, schema, view, look, onClose }: OptionsProps): JSX.Element {
  const fields = columnChoices(resource.fields, schema.schema.properties ?? {}, titleField(resource));
  const rest = fields.filter((field) => !view.fields.includes(field));
  const all = [...view.fields, ...rest];
  const move = (field: string, step: number): void => {
    const next = [...view.fields];
    const place = next.indexOf(field);
    next.splice(place, 1);
    next.splice(place + step, 0, field);
    look({ fields: next });
  };
  return (
    <Dialog title={t("lists.view_options")} kind="side" onClose={onClose}>
      <div class="stack">
        <Field label={t("lists.per_page")}>
          {(ids) => (
            <select {...ids} class="select" value={view.perPage} onChange={(event) => look({ perPage: Number(event.currentTarget.value) })}>
              {[...new Set([...PAGE_SIZES, view.perPage])].sort((one, other) => one - other).map((size) => (
                <option key={size} value={size}>
                  {size}
                </option>
              ))}
            </select>
          )}
        </Field>
        <label class="check">
          <input
            type="checkbox"
            checked={preference<string>("density", "comfortable") === "compact"}
            onChange={(event) => prefer("density", event.currentTarget.checked ? "compact" : "comfortable")}
          />
          {t("lists.compact")}
        </label>
        <fieldset>
          <legend class="field-label">{t("lists.columns")}</legend>
          <ul class="column-choices">
            {all.map((field) => {
              const place = view.fields.indexOf(field);
              const label = labelOfField(resource, field);
              return (
                <li key={field} class="column-choice">
                  <label class="check">
                    <input
                      type="checkbox"
                      checked={place >= 0}
                      onChange={(event) => look({ fields: event.currentTarget.checked ? [...view.fields, field] : view.fields.filter((one) => one !== field) })}
                    />
                    {label}
                  </label>
                  {place >= 0 && (
                    <span class="row">
                      <Button kind="quiet" small icon="chevron-up" label={t("lists.column_up", { name: label })} disabled={place === 0} onClick={() => move(field, -1)} />
                      <Button
                        kind="quiet"
                        small
                        icon="chevron-down"
                        label={t("lists.column_down", { name: label })}
                        disabled={place === view.fields.length - 1}
                        onClick={() => move(field, 1)}
                      />
                    </span>
                  )}
                </li>
              );
            })}
          </ul>
        </fieldset>
      </div>
    </Dialog>
  );
}

/** Properties that can be columns: of records as they are read, without what has no value in a list. */
function columnChoices(hints: Record<string, unknown>, properties: Record<string, { context?: string[] }>, title: string | null): string[] {
  const shown = Object.entries(properties).filter(([, schema]) => schema.context === undefined || schema.context.length > 0);
  const names = shown.length > 0 ? shown.map(([name]) => name) : Object.keys(hints);
  // The same time in UTC says nothing more.
  return names.filter((name) => name !== title && !name.startsWith("_") && !(name.endsWith("_gmt") && names.includes(name.slice(0, -4))));
}
