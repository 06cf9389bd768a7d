/** A reference to other records: found while somebody types, made where they are missing. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Id } from "../api/adapter";
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

/** A chosen record, with the resource where it was found; without one it is gone, or was chosen just now. */
interface KnownChoice extends Choice {
  of?: Resource;
}

/** The chosen records with their names; until they are known, and where they are gone, their ids. */
function useNames(targets: Resource[], ids: Id[], { adapter }: ControlProps["form"]): { known: Map<string, KnownChoice>; learn(choice: KnownChoice): void } {
  const [known, setKnown] = useState(() => new Map<string, KnownChoice>());
  const missing = ids.filter((id) => !known.has(String(id)));
  useEffect(() => {
    if (missing.length === 0) {
      return undefined;
    }
    const abort = new AbortController();
    const named = targets.map((of) =>
      recordsOf(adapter, of, missing, abort.signal).then(
        (items) => items.map((item) => ({ ...choiceOf(of, item), of })),
        () => [],
      ),
    );
    void Promise.all(named).then((found) => {
      if (!abort.signal.aborted) {
        const gone = missing.map((id): KnownChoice => ({ value: String(id), label: t("forms.unknown_record", { id: String(id) }) }));
        setKnown((before) => new Map([...before, ...[...gone, ...found.flat()].map((one) => [one.value, one] as const)]));
      }
    });
    return () => abort.abort();
  }, [namesOf(targets), missing.join(",")]);
  return { known, learn: (choice) => setKnown((before) => new Map(before).set(choice.value, choice)) };
}

function namesOf(targets: Resource[]): string {
  return targets.map((target) => target.name).join(",");
}

/** Choices that match a text, of all resources: where there are several, each says what it is. */
async function searchAll(targets: Resource[], text: string, form: ControlProps["form"], signal: AbortSignal): Promise<Choice[]> {
  const found = targets.map(async (of) => {
    const choices = await choicesOf(form.adapter, of, await searchRecords(form.adapter, of, text, signal), signal);
    const others = choices.filter((choice) => of.name !== form.resource.name || choice.value !== form.id);
    return others.map((choice) => ({ ...choice, hint: targets.length > 1 ? of.label : choice.hint }));
  });
  return (await Promise.all(found)).flat();
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
  const targets = (field.relation?.resources ?? []).map((name) => resourceOf(form.description, name)).filter((target) => target !== null);
  const [first, another] = targets;
  // A new record is made where it is clear what it is.
  const target = another === undefined ? (first ?? null) : null;
  const chosen = idsOf(value);
  const { known, learn } = useNames(targets, chosen, form);
  const recipe = useRecipe(target, form);
  const [asking, setAsking] = useState<{ text: string; answer(made: Choice | null): void } | null>(null);
  if (first === undefined) {
    return <p class="shown">{chosen.length === 0 ? t("forms.not_set") : chosen.join(", ")}</p>;
  }
  const choices = chosen.map((id): KnownChoice => known.get(String(id)) ?? { value: String(id), label: `#${id}` });
  if (readOnly) {
    return <Names choices={choices} />;
  }
  const make = async (text: string): Promise<Choice | null> => {
    if (recipe === null || target === null) {
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
        placeholder={textOption(field, "placeholder") ?? t("forms.search_in", { name: targets.map((one) => one.label).join(", ") })}
        search={(text, signal) => searchAll(targets, text, form, signal)}
        create={recipe === null ? undefined : { label: (text) => t("forms.create_named", { name: text }), make }}
        onChange={(next) => {
          next.forEach(learn);
          onChange(valueOf(next.map((choice) => choice.value), field));
        }}
      />
      {asking !== null && recipe !== null && target !== null && (
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
function Names({ choices }: { choices: KnownChoice[] }): JSX.Element {
  if (choices.length === 0) {
    return <p class="shown">{t("forms.not_set")}</p>;
  }
  return (
    <ul class="shown shown-names">
      {choices.map((choice) => (
        <li key={choice.value}>{choice.of === undefined || choice.of.operations["get"] === undefined ? choice.label : <a href={href(places.item(choice.of.name, choice.value))}>{choice.label}</a>}</li>
      ))}
    </ul>
  );
}
