/** A text with markup: the content editor, which is loaded when it is needed. */

import type { ComponentType, JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EditorHandle, EditorProps, FileItem, LinkTarget, Picture } from "../editor/types";
import { argument } from "../api/adapter";
import { t } from "../i18n";
import { find } from "../model/states";
import { Loading } from "../ui";
import { pickFiles } from "./file-picker";
import { libraryOf, uploadFile, type LibraryFile } from "./files";
import { MultiLine } from "./multi-line";
import { nameOf, searchRecords } from "./records";
import { useFlush } from "./flush";
import { shownText } from "./text";
import { textOption, type ControlProps, type FormScope } from "./types";

let loaded: Promise<ComponentType<EditorProps>> | null = null;

function load(): Promise<ComponentType<EditorProps>> {
  loaded ??= import("../editor").then((module) => module.Editor as ComponentType<EditorProps>);
  loaded.catch(() => (loaded = null));
  return loaded;
}

export function Markup(props: ControlProps): JSX.Element {
  const { field, ids, value, onChange, readOnly, form } = props;
  const [Editor, setEditor] = useState<{ Component: ComponentType<EditorProps> } | "failed" | null>(null);
  const handle = useRef<EditorHandle | null>(null);
  useEffect(() => {
    load().then((Component) => setEditor({ Component }), () => setEditor("failed"));
  }, []);
  useFlush(form, () => handle.current?.value());
  const takeHandle = useCallback((next: EditorHandle | null) => (handle.current = next), []);
  const change = useRef(onChange);
  change.current = onChange;
  const told = useCallback((text: string) => change.current(text), []);
  const abilities = useMemo(() => abilitiesOf(form), [form]);
  if (Editor === "failed") {
    return <MultiLine {...props} />;
  }
  if (Editor === null) {
    return <Loading />;
  }
  const { Component } = Editor;
  return (
    <div class="markup" id={ids.id}>
      <Component
        value={shownText(value)}
        onChange={told}
        label={field.label}
        {...(ids["aria-describedby"] === undefined ? {} : { describedBy: ids["aria-describedby"] })}
        invalid={ids["aria-invalid"] === "true"}
        readOnly={readOnly}
        placeholder={textOption(field, "placeholder") ?? t("forms.write_here")}
        capabilities={{ unfilteredHtml: form.unfilteredHtml }}
        handle={takeHandle}
        {...abilities}
      />
    </div>
  );
}

type Abilities = Pick<EditorProps, "picture" | "file" | "link" | "reusable">;

/** What the editor may use of the library and of other records. */
function abilitiesOf({ description, adapter }: FormScope): Abilities {
  const library = libraryOf(description);
  const abilities: Abilities = { link: { search: (text, signal) => searchLinks({ description, adapter }, text, signal) } };
  if (library === null) {
    return abilities;
  }
  const maySend = library.operations["create"] !== undefined;
  const pick = (many: boolean, types: string[]): Promise<LibraryFile[]> => pickFiles({ resource: library, adapter, description, many, types });
  abilities.picture = {
    pick: async ({ many }) => (await pick(many, ["image"])).map(pictureOf),
    ...(maySend ? { upload: async (file, progress, signal) => pictureOf(await uploadFile(adapter, description, library, file, progress, signal)) } : {}),
  };
  abilities.file = {
    pick: async () => {
      const file = (await pick(false, []))[0];
      return file === undefined ? null : itemOf(file);
    },
    ...(maySend ? { upload: async (file, progress, signal) => itemOf(await uploadFile(adapter, description, library, file, progress, signal)) } : {}),
  };
  return abilities;
}

function pictureOf(file: LibraryFile): Picture {
  return {
    id: Number(file.id),
    url: file.url,
    alt: file.alt,
    caption: file.caption,
    sizes: file.sizes,
    ...(file.width === undefined ? {} : { width: file.width }),
    ...(file.height === undefined ? {} : { height: file.height }),
  };
}

function itemOf(file: LibraryFile): FileItem {
  return { id: Number(file.id), url: file.url, name: file.name, mime: file.mime };
}

/** Resources whose records have addresses, at most so many, are asked at once. */
const ASKED = 4;

async function searchLinks({ description, adapter }: Pick<FormScope, "description" | "adapter">, text: string, signal: AbortSignal): Promise<LinkTarget[]> {
  const candidates = description.resources
    .filter((resource) => resource.parent === null && argument(resource, "list", "search") && resource.states.some((name) => find(description.states, name)?.public === true))
    .slice(0, ASKED);
  const found = await Promise.all(
    candidates.map(async (resource) => {
      const items = await searchRecords(adapter, resource, text, signal, { per_page: 6 });
      return items.flatMap((item) => (typeof item["link"] === "string" ? [{ url: item["link"], title: nameOf(resource, item), hint: resource.singular }] : []));
    }),
  );
  return found.flat();
}
