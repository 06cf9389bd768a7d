/** A text with markup: the content editor, which is loaded when it is needed. */

import type { ComponentType, JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isObject } from "../api/failure";
import type { EditorHandle, EditorProps, NamedColour } from "../editor/types";
import { abilitiesOf } from "../files/abilities";
import { t } from "../i18n";
import type { Field } from "../model/fields";
import { say } from "../model/labels";
import { humanName } from "../model/record";
import { Loading } from "../ui";
import { MultiLine } from "./multi-line";
import { useFlush } from "./flush";
import { shownText } from "./text";
import { textOption, type ControlProps } from "./types";

let loaded: Promise<ComponentType<EditorProps>> | null = null;

function load(): Promise<ComponentType<EditorProps>> {
  loaded ??= import("../editor").then((module) => module.Editor as ComponentType<EditorProps>);
  loaded.catch(() => (loaded = null));
  return loaded;
}

/** The named colours of the site, where the declaration of the field has some. */
function paletteOf(field: Field): NamedColour[] {
  const told = field.options["palette"];
  const colours = Array.isArray(told) ? told.filter(isObject) : [];
  return colours.flatMap(({ slug, name, colour }) =>
    typeof slug === "string" && typeof colour === "string" ? [{ slug, colour, name: typeof name === "string" ? say(name) : humanName(slug) }] : [],
  );
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
  const palette = useMemo(() => paletteOf(field), [field]);
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
        site={form.description.site.url}
        capabilities={{ unfilteredHtml: form.unfilteredHtml }}
        palette={palette}
        handle={takeHandle}
        {...abilities}
      />
    </div>
  );
}
