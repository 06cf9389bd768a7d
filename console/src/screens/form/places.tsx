/** The arranged fields of a form. Each field is a component of its own: a key renders its row and no other. */

import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { FormScope } from "../../controls/types";
import { Nested } from "../../controls/nested";
import type { Field } from "../../model/fields";
import type { Group, Place } from "../../model/form-layout";
import type { FormStore } from "../../model/form-store";

interface PlacesProps {
  places: Place[];
  store: FormStore;
  scope: FormScope;
}

export function Places({ places, store, scope }: PlacesProps): JSX.Element {
  return (
    <>
      {places.map((place) => ("field" in place ? <Row key={place.field.path} field={place.field} store={store} scope={scope} /> : <GroupBox key={place.id} group={place} store={store} scope={scope} />))}
    </>
  );
}

function Row({ field, store, scope }: { field: Field; store: FormStore; scope: FormScope }): JSX.Element {
  const value = store.cell(field.path).value;
  return (
    <div class={`form-field control-${field.control}`} data-field={field.path}>
      <Nested field={field} at={field.path} value={value} onChange={(next) => store.set(field.path, next)} readOnly={field.readOnly} form={scope} />
    </div>
  );
}

export function GroupBox({ group, store, scope }: { group: Group; store: FormStore; scope: FormScope }): JSX.Element {
  const id = useId();
  const content = <Places places={group.children} store={store} scope={scope} />;
  const help = group.help === "" ? null : <p class="field-help">{group.help}</p>;
  if (group.layout === "details") {
    return (
      <details class="form-details">
        <summary>{group.label}</summary>
        <div class="form-group">
          {help}
          {content}
        </div>
      </details>
    );
  }
  if (group.layout === "row") {
    return (
      <div class="form-row" role="group" aria-label={group.label === "" ? undefined : group.label}>
        {content}
      </div>
    );
  }
  return (
    <div class={`form-group form-${group.layout}`} role="group" aria-labelledby={group.label === "" ? undefined : id}>
      {group.label !== "" && (
        <h2 id={id} class="form-group-title">
          {group.label}
        </h2>
      )}
      {help}
      {content}
    </div>
  );
}
