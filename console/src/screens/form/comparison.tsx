/** Two versions of values beside each other, with the words that differ. */

import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Id } from "../../api/adapter";
import { nameOf } from "../../controls/records";
import { idsOf } from "../../controls/relation";
import { textOf } from "../../controls/shown";
import type { FormScope } from "../../controls/types";
import { relatedIn } from "../../displays/related";
import { t } from "../../i18n";
import { asText, differences, sides, type Side } from "../../model/diff";
import type { Field } from "../../model/fields";
import { MOST_RENDERED, renderedSides, type RenderedBlock, type Run } from "../../model/rendered";
import { Button, Icon } from "../../ui";

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
          {row.field.control === "markup" ? <MarkupPair row={row} scope={scope} before={before} after={after} /> : <Pair row={row} scope={scope} before={before} after={after} />}
          {foot?.(row)}
        </div>
      ))}
    </div>
  );
}

/** Texts with markup, as visitors read them or as they are stored. */
function MarkupPair(props: PairProps): JSX.Element {
  const { row, before, after } = props;
  const [old, fresh] = [asText(row.before), asText(row.after)];
  const large = old.length + fresh.length > MOST_RENDERED;
  const [source, setSource] = useState(false);
  const both = useMemo(() => (large ? null : renderedSides(old, fresh)), [old, fresh]);
  if (both === null) {
    return <Pair {...props} />;
  }
  const alike = ![...both.before, ...both.after].some((block) => block.changed || block.runs.some((run) => run.changed));
  return (
    <>
      <div class="comparison-view">
        {!source && alike && <span class="soft">{t("forms.differs_in_source")}</span>}
        <Button small kind="quiet" aria-pressed={source} onClick={() => setSource(!source)}>
          {t("forms.show_source")}
        </Button>
      </div>
      {source ? (
        <Pair {...props} />
      ) : (
        <div class="comparison-pair">
          <RenderedVersion title={before} blocks={both.before} kind="del" />
          <RenderedVersion title={after} blocks={both.after} kind="ins" />
        </div>
      )}
    </>
  );
}

function RenderedVersion({ title, blocks, kind }: { title: ComponentChildren; blocks: RenderedBlock[]; kind: "del" | "ins" }): JSX.Element {
  const Mark = kind;
  return (
    <div class="comparison-side comparison-rendered" dir="auto" tabIndex={0} role="group">
      <span class="hidden-visually">{title}</span>
      {blocks.length === 0 && <em class="soft">{t("forms.empty")}</em>}
      {blocks.map((block, place) => (
        <div key={place} class={`rendered rendered-${block.kind}${block.changed ? " rendered-changed" : ""}`} style={{ "--depth": block.depth }}>
          {block.kind === "figure" && <Icon name="image" />}
          {block.runs.map((run, at) => (run.changed ? <Mark key={at}>{marked(run)}</Mark> : <span key={at}>{marked(run)}</span>))}
        </div>
      ))}
    </div>
  );
}

function marked(run: Run): ComponentChildren {
  return run.marks.reduceRight<ComponentChildren>((inside, Name) => (Name === "a" ? <span class="rendered-link">{inside}</span> : <Name>{inside}</Name>), run.text);
}

interface PairProps {
  row: Compared;
  scope: ComparisonProps["scope"];
  before: ComponentChildren;
  after: ComponentChildren;
}

function Pair({ row, scope, before, after }: PairProps): JSX.Element {
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
  const targets = field.relation?.resources ?? [];
  if (targets.length > 0 && idsOf(value).length > 0) {
    const found = relatedIn(targets, value as Id);
    return found === null || found === undefined ? `#${String(value)}` : nameOf(found.resource, found.item);
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
