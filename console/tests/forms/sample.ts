/** Resources, schemas and descriptions that tests make. */

import type { Description, Resource, State } from "../../src/api/description";
import { fieldOf, type Field } from "../../src/model/fields";
import type { JsonSchema } from "../../src/model/json-schema";

export function sampleResource(changes: Partial<Resource> = {}): Resource {
  return {
    name: "notes", api_name: "note", group: "content", label: "Notes", singular: "Note", description: "", icon: "document", labels: {},
    key: "id", parent: null, operations: {}, supports: ["title", "editor"], hierarchical: false, states: [], taxonomies: [], fields: {},
    view: { default_view: {}, default_layouts: {}, view_list: [], form: {} },
    ...changes,
  };
}

export function sampleState(name: string, changes: Partial<State> = {}): State {
  return { name, label: name, public: false, private: false, draft: false, review: false, trash: false, schedules_to: null, names: [], ...changes };
}

export const STATES: State[] = [
  sampleState("publish", { public: true, schedules_to: "future" }),
  sampleState("future"),
  sampleState("draft", { draft: true }),
  sampleState("pending", { review: true }),
  sampleState("private", { private: true }),
  sampleState("trash", { trash: true }),
];

export function sampleDescription(resources: Resource[], changes: Partial<Description["site"]> = {}): Description {
  return {
    version: "1",
    site: { title: "Site", url: "https://site.example", language: "en-US", timezone: "Europe/Berlin", start_of_week: 1, max_upload: 1_000_000, upload_types: ["image/png"], ...changes },
    groups: [{ name: "content", label: "Content" }],
    resources,
    states: STATES,
  };
}

export function sampleField(schema: JsonSchema, changes: Partial<Field> = {}): Field {
  return { ...fieldOf(schema, "value", { hints: {}, readOnly: false, required: false, depth: 0 }), ...changes };
}
