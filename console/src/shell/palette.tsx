/** One field for everything: places, what can be created, and records of all resources. */

import type { JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { idOf } from "../api/adapter";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { addLabel } from "../model/naming";
import { labelOf } from "../model/record";
import { isSearchable, searchRecords } from "../model/search";
import { navigate, places } from "../router";
import { Icon } from "../ui";
import { useSettled } from "../ui/hooks";
import { findings } from "./insight";
import { hasPlace } from "./navigation";
import { paletteOpen } from "./palette-state";

interface Entry {
  name: string;
  group: "palette_go" | "palette_create" | "palette_records";
  icon: string;
  label: string;
  /** Where it belongs. */
  hint: string;
  path: string;
}

const PAUSE = 150;
/** Of each resource. */
const RECORDS = 5;
const LEAST = 2;

export function Palette(): JSX.Element {
  const [text, setText] = useState("");
  const [place, setPlace] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const settled = useSettled(text.trim(), PAUSE);
  const fixed = useMemo(entries, []);
  const { records, loading } = useRecords(settled);
  const words = text.trim().toLowerCase();
  const own = fixed.filter((entry) => `${entry.label} ${entry.hint}`.toLowerCase().includes(words));
  const shown = words === "" ? own : [...own.slice(0, 8), ...records];
  const current = Math.min(place, Math.max(0, shown.length - 1));
  useLayoutEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  useEffect(() => setPlace(0), [text]);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const close = (): void => {
    paletteOpen.value = false;
  };
  const follow = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    close();
    navigate(entry.path);
  };
  const pressed = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setPlace((current + step + shown.length) % Math.max(1, shown.length));
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      follow(shown[current]);
    }
  };
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label={t("shell.palette")}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="palette-input">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={t("shell.palette_input")}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={shown.length > 0 ? `${id}-${current}` : undefined}
          placeholder={t("shell.palette_hint")}
          value={text}
          maxLength={200}
          autofocus
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={pressed}
        />
        {loading && <span class="spinner" aria-hidden="true" />}
      </div>
      <ul id={`${id}-list`} class="palette-list" role="listbox" aria-label={t("shell.palette_results")}>
        {shown.map((entry, at) => (
          <PaletteRow key={entry.name} entry={entry} id={`${id}-${at}`} first={shown[at - 1]?.group !== entry.group} chosen={at === current} onChoose={() => follow(entry)} />
        ))}
      </ul>
      {shown.length === 0 && (
        <p class="listbox-note" role="status">
          {t(loading ? "ui.loading" : "shell.palette_nothing")}
        </p>
      )}
    </dialog>
  );
}

interface RowProps {
  entry: Entry;
  id: string;
  /** The first of its group. */
  first: boolean;
  chosen: boolean;
  onChoose: () => void;
}

function PaletteRow({ entry, id, first, chosen, onChoose }: RowProps): JSX.Element {
  return (
    <>
      {first && (
        <li class="palette-group" role="presentation">
          {t(`shell.${entry.group}`)}
        </li>
      )}
      <li id={id} role="option" class="palette-item" aria-selected={chosen} onClick={onChoose}>
        <Icon name={entry.icon} />
        <span class="palette-item-text">{entry.label}</span>
        <span class="soft">{entry.hint}</span>
      </li>
    </>
  );
}

/** Places and what can be created. */
function entries(): Entry[] {
  const { resources, groups } = api().description;
  const shown = resources.filter(hasPlace);
  const groupOf = (resource: Resource): string => groups.find((group) => group.name === resource.group)?.label ?? "";
  const go = (name: string, icon: string, label: string, path: string, hint = ""): Entry => ({ name: `go ${name}`, group: "palette_go", icon, label, hint, path });
  const creates = shown.filter((resource) => resource.operations["create"]?.file === false);
  return [
    go("", "dashboard", t("shell.dashboard"), places.dashboard()),
    ...shown.map((resource) => go(resource.name, resource.icon, resource.label, places.list(resource.name), groupOf(resource))),
    ...(findings.value === null ? [] : [go("declarations", "code", t("shell.declarations"), places.declarations())]),
    ...creates.map(
      (resource): Entry => ({
        name: `create ${resource.name}`,
        group: "palette_create",
        icon: "add",
        label: addLabel(resource),
        hint: groupOf(resource),
        path: places.create(resource.name),
      }),
    ),
  ];
}

/** Records of every resource that can be searched. What comes first is shown first. */
function useRecords(text: string): { records: Entry[]; loading: boolean } {
  const [records, setRecords] = useState<Entry[]>([]);
  const [open, setOpen] = useState(0);
  useEffect(() => {
    setRecords([]);
    setOpen(0);
    if (text.length < LEAST) return undefined;
    const abort = new AbortController();
    const resources = api().description.resources.filter((resource) => hasPlace(resource) && isSearchable(resource));
    setOpen(resources.length);
    for (const resource of resources) {
      searchRecords(api(), resource, text, { limit: RECORDS, signal: abort.signal })
        .then(
          (items) => items.map((item) => recordEntry(resource, item)),
          () => [],
        )
        .then((found) => {
          if (abort.signal.aborted) return;
          setOpen((n) => n - 1);
          setRecords((before) => sorted([...before, ...found], resources));
        });
    }
    return () => abort.abort();
  }, [text]);
  return { records, loading: open > 0 };
}

function recordEntry(resource: Resource, item: Record<string, unknown>): Entry {
  const id = idOf(resource, item);
  return {
    name: `record ${resource.name} ${id}`,
    group: "palette_records",
    icon: resource.icon,
    label: labelOf(resource, item, (own) => t("lists.untitled", { id: own })),
    hint: resource.singular,
    path: places.item(resource.name, id),
  };
}

/** In the order of the navigation, whichever answer came first. */
function sorted(found: Entry[], resources: Resource[]): Entry[] {
  const order = new Map(resources.map((resource, place) => [resource.name, place]));
  const placeOf = (entry: Entry): number => order.get(entry.name.split(" ")[1] ?? "") ?? 0;
  return found.sort((one, other) => placeOf(one) - placeOf(other));
}
