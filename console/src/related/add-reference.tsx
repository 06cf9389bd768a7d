/** A new record that stands for another one, such as an item of a menu for a page: somebody searches, and it is there. */

import type { JSX } from "preact";
import { api } from "../api";
import type { Item } from "../api/adapter";
import type { Resource } from "../api/description";
import { isObject } from "../api/failure";
import { finder } from "../files/abilities";
import { t } from "../i18n";
import { stripHtml } from "../model/record";
import { toast } from "../ui";
import { type Choice, Combobox } from "../ui/combobox";

/** Properties of a record that stands for another one: what kind it is, and its id. */
const KIND = "object";
const ID = "object_id";
const CLASS = "type";

/** The class of references to records of content, in the contract. */
const RECORD = "post_type";

export function takesReferences(resource: Resource): boolean {
  const args = resource.operations["create"]?.args ?? [];
  return [KIND, ID, CLASS].every((name) => args.includes(name)) && finder(api().description) !== null;
}

const FOUND = 12;

async function search(text: string, signal: AbortSignal): Promise<Choice[]> {
  const { adapter, description } = api();
  const everything = finder(description);
  if (everything === null) return [];
  const { items } = await adapter.list(everything, { search: text === "" ? undefined : text, per_page: FOUND }, { signal });
  return items.map((item) => {
    const title = isObject(item["title"]) ? item["title"]["rendered"] : item["title"];
    const kind = String(item["subtype"] ?? "");
    const hint = description.resources.find((resource) => resource.api_name === kind)?.singular;
    return { value: `${kind}/${String(item["id"])}`, label: typeof title === "string" ? stripHtml(title) : kind, hint };
  });
}

export function AddReference({ resource, preset }: { resource: Resource; preset: Item }): JSX.Element {
  const add = async ([choice]: Choice[]): Promise<void> => {
    if (choice === undefined) return;
    const [kind, id] = choice.value.split("/");
    try {
      await api().adapter.create(resource, { ...preset, [CLASS]: RECORD, [KIND]: kind, [ID]: Number(id), title: choice.label });
      toast.done(t("people.added", { name: choice.label }));
    } catch (error) {
      toast.failed(error);
    }
  };
  return (
    <div class="structure-add">
      <Combobox label={t("people.add_record")} placeholder={t("people.add_record")} value={[]} onChange={(choices) => void add(choices)} search={search} />
    </div>
  );
}
