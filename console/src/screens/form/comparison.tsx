/** Two versions of values beside each other, with the words that differ. */

import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Id } from "../../api/adapter";
import { nameOf, resourceOf } from "../../controls/records";
import { idsOf } from "../../controls/relation";
import { textOf } from "../../controls/shown";
import type { FormScope } from "../../controls/types";
import { related } from "../../displays/related";
import { t } from "../../i18n";
import { asText, differences, sides, type Side } from "../../model/diff";
import type { Field } from "../../model/fields";

export interface Compared {
  field: Field;
  before: unknown;
  after: unknown;
}

interface ComparisonProps {
  rows: Compared[];
  before: ComponentChildren;
  after: ComponentChildren;
  scope: Pick<FormScope, "description" | "states">;
  /** Below each row, such as a choice. */
  foot?: (row: Compared) => ComponentChildren;
}

export function Comparison({ rows, before, after, scope, foot }: ComparisonProps): JSX.Element {
  return (
    <div class="comparison">
      <div class="comparison-head" aria-hidden="true">
        <span>{before}</span>
        <span>{after}</span>
      </div>
      {rows.map((row) => (
        <div key={row.field.path} class="comparison-row" role="group" aria-label={row.field.label}>
          <h2 class="comparison-title">{row.field.label}</h2>
          <Pair row={row} scope={scope} before={before} after={after} />
          {foot?.(row)}
        </div>
      ))}
    </div>
  );
}

function Pair({ row, scope, before, after }: { row: Compared; scope: ComparisonProps["scope"]; before: ComponentChildren; after: ComponentChildren }): JSX.Element {
  // Names of other records arrive later.
  const [old, fresh] = [wordsOf(row.field, row.before, scope), wordsOf(row.field, row.after, scope)];
  const both = useMemo(() => sides(differences(old, fresh)), [old, fresh]);
  return (
    <div class="comparison-pair">
      <Version title={before} parts={both.before} kind="del" />
      <Version title={after} parts={both.after} kind="ins" />
    </div>
  );
}

/** Texts as they are; other values in words, those of a list on a line each. */
function wordsOf(field: Field, value: unknown, scope: ComparisonProps["scope"]): string {
  if (value === undefined || value === null) {
    return "";
  }
  if (Array.isArray(value)) {
    const item = field.item;
    return item !== null && value.every((one) => typeof one !== "object") ? value.map((one) => itemOf(field, one, scope)).join("\n") : asText(value);
  }
  if (typeof value === "object") {
    return asText(value);
  }
  const plain = typeof value === "string" && field.choices === null && field.control !== "date-time" && field.control !== "state";
  return plain ? value : itemOf(field, value, scope);
}

/** The name of a record that is referred to, or of a choice. */
function itemOf(field: Field, value: unknown, scope: ComparisonProps["scope"]): string {
  const target = resourceOf(scope.description, field.relation?.resource);
  if (target !== null && idsOf(value).length > 0) {
    const item = related(target.name, value as Id).value;
    return item === null || item === undefined ? `#${String(value)}` : nameOf(target, item);
  }
  return field.relation !== null && idsOf(value).length === 0 ? "" : textOf(field, value, scope);
}

/** The mark is read out, too: `del` and `ins` mean removed and added. */
function Version({ title, parts, kind }: { title: ComponentChildren; parts: Side[]; kind: "del" | "ins" }): JSX.Element {
  const Mark = kind;
  return (
    <div class="comparison-side" dir="auto" tabIndex={0} role="group">
      <span class="hidden-visually">{title}</span>
      {parts.length === 0 ? <em class="soft">{t("forms.empty")}</em> : parts.map((part, place) => (part.kind === "same" ? <span key={place}>{part.text}</span> : <Mark key={place}>{part.text}</Mark>))}
    </div>
  );
}
