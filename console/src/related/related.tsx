/** Panels below the form of a record: what belongs to it, and what refers to it. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../api";
import { type Id, idOf, type Item } from "../api/adapter";
import type { Resource } from "../api/description";
import { labelOf } from "../model/record";
import { Icon } from "../ui";
import { BelowPanel } from "./below";
import { Operations } from "./operations";
import { nameOfPanel, type Panel, panelsOf, presetOf, treeFieldsOf } from "./panels";
import { ReferringPanel } from "./referring";
import { Structure } from "./structure";
import "./related.css";

interface RelatedProps {
  resource: Resource;
  item: Item;
}

export function RelatedPanels({ resource, item }: RelatedProps): JSX.Element {
  const { description } = api();
  // The id of the address is a text; what refers to the record has it as the record does.
  const id = idOf(resource, item);
  const panels = useMemo(() => panelsOf(resource, id, item, description), [resource, id, item, description]);
  const title = labelOf(resource, item, (own) => `${resource.singular} ${own}`);
  return (
    <div class="record-panels">
      <Operations resource={resource} id={id} title={title} />
      {panels.map((panel) => (
        <OnePanel key={nameOfPanel(panel)} panel={panel} resource={resource} owner={id} title={title} />
      ))}
    </div>
  );
}

/** Records that are filed under exactly one record, in an order: the tree is the record's own, and is edited with it. */
function isOwnTree(panel: Extract<Panel, { kind: "referring" }>, resource: Resource): boolean {
  const relation = panel.field === null ? undefined : panel.resource.fields[panel.field]?.relation;
  return panel.resource.taxonomies.includes(resource.name) && relation?.many === false;
}

function OnePanel({ panel, resource, owner, title }: { panel: Panel; resource: Resource; owner: Id; title: string }): JSX.Element {
  if (panel.kind === "below") return <BelowPanel resource={panel.resource} parameter={panel.parameter} owner={owner} />;
  const fields = treeFieldsOf(panel.resource);
  const preset = presetOf(panel, owner);
  if (fields !== null && preset !== null && isOwnTree(panel, resource)) {
    return (
      <section class="record-panel" aria-label={panel.resource.label}>
        <header class="record-head">
          <Icon name={panel.resource.icon} />
          <h2>{panel.resource.label}</h2>
        </header>
        <Structure resource={panel.resource} query={panel.query} preset={preset} fields={fields} label={title} />
      </section>
    );
  }
  return <ReferringPanel panel={panel} />;
}
