/** A reference to other records: found while somebody types, made where they are missing. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Id, Item } from "../api/adapter";
import { messageOf } from "../api/http";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { typesOf, type JsonSchema } from "../model/json-schema";
import { href, places } from "../router";
import { toast } from "../ui";
import { Combobox, type Choice } from "../ui/combobox";
import { NewRecord } from "./new-record";
import { bodyOf, choiceOf, choicesOf, recipeOf, recordsOf, resourceOf, searchRecords, type Recipe } from "./records";
import { textOption, type ControlProps } from "./types";

/** 0 means no record. */
export function idsOf(value: unknown): Id[] {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  return all.filter((id): id is Id => (typeof id === "number" && id !== 0) || (typeof id === "string" && id !== "" && id !== "0"));
}

/** Ids as the schema wants them. */
export function valueOf(ids: string[], field: ControlProps["field"]): unknown {
  const schema = field.kind === "array" ? field.item?.schema : field.schema;
  const numbers = schema === undefined || !typesOf(schema).includes("string");
  const converted: Id[] = ids.map((id) => (numbers ? Number(id) : id));
  if (field.kind === "array") {
    return converted;
  }
  return converted[0] ?? (field.nullable ? null : numbers ? 0 : "");
}

/** Names of the chosen records; until they are known, and where they are gone, their ids. */
export function useNames(target: Resource | null, ids: Id[], { adapter }: ControlProps["form"]): { known: Map<string, string>; learn(choice: Choice): void } {
  const [known, setKnown] = useState(() => new Map<string, string>());
  const missing = ids.filter((id) => !known.has(String(id)));
  useEffect(() => {
    if (target === null || missing.length === 0) {
      return undefined;
    }
    const abort = new AbortController();
    const settle = (items: Item[]): void => {
      const found = items.map((item) => choiceOf(target, item));
      setKnown((before) => new Map([...before, ...missing.map((id) => [String(id), t("forms.unknown_record", { id: String(id) })] as const), ...found.map((one) => [one.value, one.label] as const)]));
    };
    recordsOf(adapter, target, missing, abort.signal).then(settle, () => {
      if (!abort.signal.aborted) {
        settle([]);
      }
    });
    return () => abort.abort();
  }, [target?.name, missing.join(",")]);
  return { known, learn: (choice) => setKnown((before) => new Map(before).set(choice.value, choice.label)) };
}

/** What a new record of a resource needs; null until it is known, and where the caller may make none. */
export function useRecipe(target: Resource | null, { schemas }: ControlProps["form"]): Recipe | null {
  const [recipe, setRecipe] = useState<Recipe | null>(null);
  useEffect(() => {
    setRecipe(null);
    if (target?.operations["create"] !== undefined && target.parent === null) {
      schemas.of(target).then((found) => setRecipe(recipeOf(target, found.args["create"] as Record<string, JsonSchema> | undefined)), () => undefined);
    }
  }, [target?.name]);
  return recipe;
}

export function Relation(props: ControlProps): JSX.Element {
  const { field, ids, value, onChange, readOnly, form } = props;
  const target = resourceOf(form.description, field.relation?.resource);
  const chosen = idsOf(value);
  const { known, learn } = useNames(target, chosen, form);
  const recipe = useRecipe(target, form);
  const [asking, setAsking] = useState<{ text: string; answer(made: Choice | null): void } | null>(null);
  if (target === null) {
    return <p class="shown">{chosen.length === 0 ? t("forms.not_set") : chosen.join(", ")}</p>;
  }
  const choices = chosen.map((id): Choice => ({ value: String(id), label: known.get(String(id)) ?? `#${id}` }));
  if (readOnly) {
    return <Names target={target} choices={choices} />;
  }
  const itself = target.name === form.resource.name ? form.id : null;
  const make = async (text: string): Promise<Choice | null> => {
    if (recipe === null) {
      return null;
    }
    if (recipe.required.length > 0) {
      return new Promise((resolve) => setAsking({ text, answer: resolve }));
    }
    try {
      const made = choiceOf(target, (await form.adapter.create(target, bodyOf(recipe, text))).item);
      learn(made);
      return made;
    } catch (error) {
      toast.problem(messageOf(error));
      return null;
    }
  };
  return (
    <>
      <Combobox
        label={field.label}
        field={ids}
        value={choices}
        multiple={field.kind === "array"}
        placeholder={textOption(field, "placeholder") ?? t("forms.search_in", { name: target.label })}
        search={async (text, signal) => {
          const found = await searchRecords(form.adapter, target, text, signal);
          return (await choicesOf(form.adapter, target, found, signal)).filter((choice) => choice.value !== itself);
        }}
        create={recipe === null ? undefined : { label: (text) => t("forms.create_named", { name: text }), make }}
        onChange={(next) => {
          next.forEach(learn);
          onChange(valueOf(next.map((choice) => choice.value), field));
        }}
      />
      {asking !== null && recipe !== null && (
        <NewRecord
          resource={target}
          recipe={recipe}
          name={asking.text}
          form={form}
          onDone={(item) => {
            const made = item === null ? null : choiceOf(target, item);
            if (made !== null) {
              learn(made);
            }
            asking.answer(made);
            setAsking(null);
          }}
        />
      )}
    </>
  );
}

/** Records that cannot be chosen here: their names lead to them. */
function Names({ target, choices }: { target: Resource; choices: Choice[] }): JSX.Element {
  if (choices.length === 0) {
    return <p class="shown">{t("forms.not_set")}</p>;
  }
  return (
    <ul class="shown shown-names">
      {choices.map((choice) => (
        <li key={choice.value}>{target.operations["get"] === undefined ? choice.label : <a href={href(places.item(target.name, choice.value))}>{choice.label}</a>}</li>
      ))}
    </ul>
  );
}
