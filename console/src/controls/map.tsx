/** An object whose names are free: rows of a name and a value. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { isObject } from "../model/json-schema";
import { empty, equal, initial, withMember } from "../model/values";
import { Button } from "../ui";
import { Nested } from "./nested";
import type { ControlProps } from "./types";

interface Row {
  key: number;
  name: string;
  value: unknown;
}

/** Rows as an object; of two rows with one name the last counts. */
export function objectOf(rows: readonly { name: string; value: unknown }[]): Record<string, unknown> {
  return rows.reduce<Record<string, unknown>>((object, row) => (row.name === "" ? object : withMember(object, row.name, row.value)), {});
}

export function MapControl({ field, at, ids, value, onChange, readOnly, form }: ControlProps): JSX.Element {
  const last = useRef(0);
  const rowsOf = (object: unknown): Row[] => Object.entries(isObject(object) ? object : {}).map(([name, one]) => ({ key: ++last.current, name, value: one }));
  const [kept, setRows] = useState<Row[]>(() => rowsOf(value));
  // Rows without a name, or with one that another row has, are in no object: they live here.
  const rows = equal(objectOf(kept), isObject(value) ? value : {}) ? kept : rowsOf(value);
  const item = field.item;
  const change = (next: Row[]): void => {
    setRows(next);
    onChange(objectOf(next));
  };
  const full = field.bounds.maxProperties !== undefined && rows.length >= field.bounds.maxProperties;
  return (
    <div class="list" id={ids.id}>
      {rows.map((row, place) => {
        const twice = row.name !== "" && rows.some((other, index) => index !== place && other.name === row.name);
        return (
          <div key={row.key} class="map-row">
            <div class="field">
              <input
                class="input"
                aria-label={t("forms.map_name", { place: place + 1 })}
                aria-invalid={twice ? "true" : undefined}
                placeholder={t("forms.map_name_hint")}
                value={row.name}
                readOnly={readOnly}
                onInput={(event) => change(rows.map((one) => (one === row ? { ...row, name: event.currentTarget.value } : one)))}
              />
              {twice && <p class="field-error">{t("forms.map_twice")}</p>}
            </div>
            {item !== null && (
              <Nested
                field={item}
                at={`${at}.${row.name}`}
                label={t("forms.map_value", { name: row.name })}
                bare
                value={row.value}
                onChange={(next) => change(rows.map((one) => (one === row ? { ...row, value: next } : one)))}
                readOnly={readOnly}
                form={form}
              />
            )}
            {!readOnly && <Button kind="quiet" small icon="close" label={t("ui.remove", { name: row.name })} onClick={() => change(rows.filter((one) => one !== row))} />}
          </div>
        );
      })}
      {!readOnly && !full && item !== null && (
        <div>
          <Button small icon="add" onClick={() => setRows([...rows, { key: ++last.current, name: "", value: initial(item) ?? empty(item) }])}>
            {t("forms.add_item")}
          </Button>
        </div>
      )}
    </div>
  );
}
