/**
 * Terms that a record is filed under. Those of a hierarchy are a tree of check boxes; others are found while somebody
 * types. Both are made where they are missing.
 */

import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { argument, type Item, type Page } from "../api/adapter";
import type { Resource } from "../api/description";
import { messageOf } from "../api/http";
import { t } from "../i18n";
import { addLabel } from "../model/naming";
import { announce, Button, Loading, toast } from "../ui";
import { bodyOf, nameOf, resourceOf } from "./records";
import { idsOf, Relation, useRecipe, valueOf } from "./relation";
import type { ControlProps } from "./types";

export interface Term {
  id: string;
  name: string;
  parent: string;
}

export interface Branch {
  term: Term;
  children: Branch[];
}

/** Terms as a tree, by name; what has no known parent, or is its own ancestor, is at the top. */
export function treeOf(terms: readonly Term[]): Branch[] {
  const branches = new Map(terms.map((term) => [term.id, { term, children: [] as Branch[] }]));
  const top: Branch[] = [];
  const ordered = [...branches.values()].sort((a, b) => a.term.name.localeCompare(b.term.name));
  for (const branch of ordered) {
    const parent = branches.get(branch.term.parent);
    if (parent === undefined || isAncestor(branch.term.id, parent.term, branches)) {
      top.push(branch);
    } else {
      parent.children.push(branch);
    }
  }
  return top;
}

function isAncestor(id: string, from: Term, branches: Map<string, Branch>): boolean {
  const seen = new Set<string>();
  for (let term: Term | undefined = from; term !== undefined && !seen.has(term.id); term = branches.get(term.parent)?.term) {
    if (term.id === id) {
      return true;
    }
    seen.add(term.id);
  }
  return false;
}

/** Branches whose names contain a text, with those above them. */
export function filtered(branches: Branch[], text: string): Branch[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") {
    return branches;
  }
  return branches.flatMap((branch) => {
    const children = filtered(branch.children, text);
    return children.length > 0 || branch.term.name.toLowerCase().includes(wanted) ? [{ ...branch, children }] : [];
  });
}

const PAGE = 100;
/** A tree of more pages is searched instead. */
const PAGES = 5;

/** All terms; null until they are there, "many" where they are too many for a tree. */
function useTerms(target: Resource | null, { adapter }: ControlProps["form"]): { terms: Term[] | "many" | null; add(item: Item): void; failure: string | null } {
  const [terms, setTerms] = useState<Term[] | "many" | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (target === null || !target.hierarchical) {
      return undefined;
    }
    const abort = new AbortController();
    const load = async (): Promise<void> => {
      const context = argument(target, "list", "context") ? { context: "view" } : {};
      const read = (page: number): Promise<Page> => adapter.list(target, { per_page: PAGE, page, ...context }, { signal: abort.signal });
      const first = await read(1);
      const pages = first.pages ?? (first.more ? PAGES : 1);
      if (pages > PAGES) {
        setTerms("many");
        return;
      }
      const rest = await Promise.all(Array.from({ length: pages - 1 }, (_, place) => read(place + 2)));
      const all = [first, ...rest];
      setTerms(all.at(-1)?.more === true ? "many" : all.flatMap((page) => page.items).map((item) => termOf(target, item)));
    };
    load().catch((error: unknown) => {
      if (!abort.signal.aborted) {
        setFailure(messageOf(error));
      }
    });
    return () => abort.abort();
  }, [target?.name]);
  return { terms, failure, add: (item) => setTerms((before) => (target === null || !Array.isArray(before) ? before : [...before, termOf(target, item)])) };
}

function termOf(target: Resource, item: Item): Term {
  return { id: String(target.key === null ? "" : item[target.key]), name: nameOf(target, item), parent: String(item["parent"] ?? 0) };
}

export function Terms(props: ControlProps): JSX.Element {
  const { field, form } = props;
  const target = resourceOf(form.description, field.relation?.resources[0]);
  const { terms, add, failure } = useTerms(props.readOnly ? null : target, form);
  if (props.readOnly || target === null || !target.hierarchical || terms === "many") {
    return <Relation {...props} />;
  }
  if (failure !== null) {
    return <p class="field-error">{failure}</p>;
  }
  return terms === null ? <Loading /> : <Tree {...props} target={target} terms={terms} add={add} />;
}

/** So many terms need no filter. */
const FEW = 8;

function Tree(props: ControlProps & { target: Resource; terms: Term[]; add(item: Item): void }): JSX.Element {
  const { field, ids, value, onChange, readOnly, form, target, terms, add } = props;
  const [text, setText] = useState("");
  const chosen = new Set(idsOf(value).map(String));
  const recipe = useRecipe(target, form);
  const toggle = (id: string, on: boolean): void => {
    const rest = idsOf(value).map(String).filter((one) => one !== id);
    onChange(valueOf(on ? [...rest, id] : rest, field));
  };
  return (
    <div class="stack-tight" id={ids.id}>
      {terms.length > FEW && (
        <input class="input" type="search" aria-label={t("forms.filter", { name: field.label })} placeholder={t("forms.filter", { name: field.label })} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      )}
      <div class="tree-box">
        <Branches branches={filtered(treeOf(terms), text)} chosen={chosen} readOnly={readOnly} onToggle={toggle} />
      </div>
      {recipe !== null && recipe.required.length === 0 && !readOnly && (
        <NewTerm
          target={target}
          terms={terms}
          onMake={async (name, parent) => {
            try {
              const { item } = await form.adapter.create(target, bodyOf(recipe, name, parent === "" ? {} : { parent: Number(parent) }));
              add(item);
              toggle(termOf(target, item).id, true);
              announce(t("forms.added", { name }));
              return true;
            } catch (error) {
              toast.failed(error);
              return false;
            }
          }}
        />
      )}
    </div>
  );
}

function Branches({ branches, chosen, readOnly, onToggle }: { branches: Branch[]; chosen: Set<string>; readOnly: boolean; onToggle(id: string, on: boolean): void }): JSX.Element {
  return (
    <ul class="tree">
      {branches.map(({ term, children }) => (
        <li key={term.id}>
          <label class="check">
            <input type="checkbox" checked={chosen.has(term.id)} disabled={readOnly} onChange={(event) => onToggle(term.id, event.currentTarget.checked)} />
            <span>{term.name}</span>
          </label>
          {children.length > 0 && <Branches branches={children} chosen={chosen} readOnly={readOnly} onToggle={onToggle} />}
        </li>
      ))}
    </ul>
  );
}

function NewTerm({ target, terms, onMake }: { target: Resource; terms: Term[]; onMake(name: string, parent: string): Promise<boolean> }): JSX.Element {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [parent, setParent] = useState("");
  const [busy, setBusy] = useState(false);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), [open]);
  if (!open) {
    return (
      <div>
        <Button small kind="quiet" icon="add" onClick={() => setOpen(true)}>
          {addLabel(target)}
        </Button>
      </div>
    );
  }
  const make = async (): Promise<void> => {
    if (name.trim() === "" || busy) {
      return;
    }
    setBusy(true);
    if (await onMake(name.trim(), parent)) {
      setName("");
      setParent("");
      setOpen(false);
    }
    setBusy(false);
  };
  return (
    <div class="stack-tight new-term" role="group" aria-label={addLabel(target)}>
      <label class="field-label" htmlFor={`${id}-name`}>
        {t("forms.name")}
      </label>
      <input
        id={`${id}-name`}
        class="input"
        value={name}
        ref={input}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            void make();
          } else if (event.key === "Escape") {
            setOpen(false);
          }
        }}
      />
      <ParentChoice id={`${id}-parent`} terms={terms} value={parent} onChange={setParent} />
      <div class="row">
        <Button small kind="primary" busy={busy} disabled={name.trim() === ""} onClick={() => void make()}>
          {t("forms.add")}
        </Button>
        <Button small onClick={() => setOpen(false)}>
          {t("ui.cancel")}
        </Button>
      </div>
    </div>
  );
}

function ParentChoice({ id, terms, value, onChange }: { id: string; terms: Term[]; value: string; onChange(id: string): void }): JSX.Element {
  return (
    <>
      <label class="field-label" htmlFor={id}>
        {t("forms.parent")}
      </label>
      <select id={id} class="select" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{t("forms.no_parent")}</option>
        {terms.map((term) => (
          <option key={term.id} value={term.id}>
            {term.name}
          </option>
        ))}
      </select>
    </>
  );
}
