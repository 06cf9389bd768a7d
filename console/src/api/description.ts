/**
 * What the server says about itself: `GET {base}/console/v1/description`.
 *
 * It follows from the declarations and from what the caller may do. It names no values: schemas and arguments come from
 * `OPTIONS`, records from the routes that it lists. Everything that the console shows follows from it.
 */

export interface Description {
  /** Changes whenever the declarations do. */
  version: string;
  site: Site;
  /** Sections of the navigation, in their order. */
  groups: Group[];
  /** What the caller may list or edit, in the order of the navigation. */
  resources: Resource[];
  /** States of records and comments, in their declared order. */
  states: State[];
  /** What `OPTIONS` says in the language of the page, by the texts there. The description itself is in this language. */
  texts?: Record<string, string>;
}

export interface Site {
  title: string;
  /** The address that visitors see. */
  url: string;
  /** BCP 47, such as "en-US". */
  language: string;
  /** IANA name, or an offset such as "+02:00". */
  timezone: string;
  /** 0 is Sunday. */
  start_of_week: number;
  /** Bytes of the largest file that is taken. */
  max_upload: number;
  /** MIME types that are taken. */
  upload_types: string[];
  /** False: the caller may not ask for the site's health. */
  health?: boolean;
  /** The resource in which the caller keeps views of lists; null: there is none. */
  saved_views?: string | null;
  /** Search engines leave the whole site out. */
  noindex?: boolean;
  /** The resource with what rebuilds the site; null: there is none. */
  rebuilds?: string | null;
  /** The resource with the roles; null: there is none. */
  roles?: string | null;
  /** The resource with changes that wait for a review; null: there is none. */
  reviews?: string | null;
  /** Programs can connect. */
  assistants?: boolean;
  /** Scheme and host of the front end's previews, such as "https://www.example.org"; null: there are none. */
  preview_origin?: string | null;
}

export interface Group {
  name: string;
  label: string;
}

export interface State {
  name: string;
  label: string;
  /** Anybody may read records in this state. */
  public: boolean;
  /** Only people with a right of their own may read them. */
  private: boolean;
  draft: boolean;
  /** They wait for somebody who may publish. */
  review: boolean;
  trash: boolean;
  /** Records in this state are as visible as what they belong to: it says nothing of the record. */
  inherits?: boolean;
  /** The state that a time in the future turns this one into, such as "future". */
  schedules_to: string | null;
  /** Names that requests use for the state (comments). The first is written. */
  names: string[];
}

export type OperationName = string;

export interface Operation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * Below the base; `{id}` and the like are filled in, such as "/cms/v2/posts/{id}/revisions". The parameter that names an
   * item has the name of the resource's `key`; what is below an item has a name of its own, such as `{revision}`.
   */
  path: string;
  /** Names of the arguments. Their schemas come from `OPTIONS` of the path. */
  args: string[];
  /** The operation takes a file as its body. */
  file: boolean;
  /** The operation may be part of a batch. */
  batch: boolean;
}

export interface Resource {
  /** Name in the declarations and in addresses of the console. */
  name: string;
  /** Name in `types`, `taxonomies` and results of the search. */
  api_name: string;
  /** Name of a section; empty for what has no place in the navigation, such as what the caller can only read. */
  group: string;
  label: string;
  singular: string;
  description: string;
  /** Name of an icon of the console. */
  icon: string;
  /** Texts by key, such as `add_new_item`, `not_found`. */
  labels: Record<string, string>;
  /** The parameter of paths that names an item, such as "id"; null for a singleton, such as the settings. */
  key: string | null;
  /** Records of this resource belong to a record of another one, which `parameter` of their paths names. */
  parent: { resource: string; parameter: string } | null;
  /** What the caller may do, for some records at least: `list`, `get`, `create`, `update`, `delete`, and what else is declared. */
  operations: Record<OperationName, Operation>;
  /** Features, such as "title", "editor", "revisions", "files". */
  supports: string[];
  hierarchical: boolean;
  /** Names of the states that records can have; empty without states. */
  states: string[];
  /** False: the caller may not make records public. */
  publishes?: boolean;
  /** Resources of terms that records are filed under. */
  taxonomies: string[];
  /** By name of the property; `a.b` for what is nested. A property that needs none of it is absent. */
  fields: Record<string, FieldHints>;
  view: ResourceView;
  /** Resources of which records can be begun from one of these: properties of theirs, and those of this one that they begin with. */
  creates?: Record<string, Record<string, string>>;
}

/** What a schema that clients may see does not say. */
export interface FieldHints {
  label?: string;
  help?: string;
  /** Name of a control of the console. */
  control?: string;
  /** Name of a display of the console. */
  display?: string;
  options?: Record<string, unknown>;
  /** What its ids are of: records of one of these resources. */
  relation?: { resources: string[]; many: boolean };
  /** The type that a form writes, where several are accepted. */
  type?: "array" | "integer" | "string";
  /** The server keeps the members that a request leaves out. */
  merges?: boolean;
  /** Comparisons that `where` takes. */
  operators?: string[];
  /** The key for `order_by`. */
  sort?: string;
  /** Labels of the values of an enumeration. */
  labels?: Record<string, string>;
}

/** How lists and forms look. It has the members of `view-config` of WordPress 7.1. */
export interface ResourceView {
  default_view: View;
  default_layouts: Record<string, View>;
  view_list: { title: string; slug: string; view?: View }[];
  form: Form;
}

export interface View {
  type?: string;
  layout?: Record<string, unknown>;
  filters?: ViewFilter[];
  sort?: { field: string; direction: "asc" | "desc" };
  perPage?: number;
  fields?: string[];
  titleField?: string;
  mediaField?: string;
  descriptionField?: string;
  showTitle?: boolean;
  showMedia?: boolean;
  showDescription?: boolean;
  showLevels?: boolean;
}

export interface ViewFilter {
  field: string;
  operator: string;
  value: unknown;
  isLocked?: boolean;
}

export interface Form {
  layout?: { type: string; [option: string]: unknown };
  fields?: FormField[];
}

export type FormField = string | { id: string; label?: string; description?: string; layout?: { type: string }; children?: FormField[] };

/** One finding of `GET {base}/console/v1/health`. */
export interface Finding {
  level: "ok" | "warning" | "problem";
  /** What was checked, such as "mail". */
  check: string;
  message: string;
  /** What to do. */
  hint: string | null;
}

/** One declaration of `GET {base}/console/v1/declarations`. */
export interface Declaration {
  /** Such as "resources.posts". */
  name: string;
  file: string;
  line: number;
}
