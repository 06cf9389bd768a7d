/** How the blocks around the cursor look: colours, widths, pictures of frames. Each change takes effect at once, and can be undone. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { sixDigits } from "../controls/colour";
import { t } from "../i18n";
import { Dialog, Field } from "../ui";
import { type Colour, colourOf, coloursOf, withColour } from "./colours";
import { setAttrs } from "./commands";
import { type BlockProps, kindOf, nameOf, type Part } from "./kind";
import type { Session } from "./session";
import { settable } from "./settings";
import type { EditorProps, NamedColour } from "./types";

export function SettingsDialog({ session, props, onClose }: { session: Session; props: EditorProps; onClose(): void }): JSX.Element {
  const [, redraw] = useState(0);
  const blocks = settable(session.view.state);
  const classic = session.view.state.doc.attrs["classic"] === true;
  return (
    <Dialog title={t("editor.settings")} kind="side" onClose={onClose}>
      {blocks.length === 0 && <p class="soft">{t("editor.settings_none")}</p>}
      <div class="stack">
        {blocks.map(({ node, pos }) => {
          const { Settings } = kindOf(node);
          const set: BlockProps["set"] = (attrs) => {
            if (attrs === null) return;
            setAttrs(pos, attrs)(session.view.state, session.view.dispatch);
            redraw((n) => n + 1);
          };
          return (
            <fieldset key={pos} class="stack editor-settings">
              <legend class="field-label">{nameOf(node)}</legend>
              {Settings !== undefined && <Settings node={node} pos={pos} set={set} session={session} props={props} />}
              {coloursOf(node, classic).map((part) => (
                <ColourField key={part} label={colourLabel(part)} value={colourOf(node, part)} palette={props.palette ?? []} onChange={(colour) => set(withColour(node, part, colour))} />
              ))}
            </fieldset>
          );
        })}
      </div>
    </Dialog>
  );
}

function colourLabel(part: Part): string {
  if (part === "overlay") return t("editor.colour_overlay");
  return t(part === "text" ? "editor.colour_text" : "editor.colour_ground");
}

interface ColourFieldProps {
  label: string;
  value: Colour | null;
  palette: readonly NamedColour[];
  onChange(colour: Colour | null): void;
}

const NONE = "none";
const OWN = "own";

/** A colour of the site by its name, or another one. */
function ColourField({ label, value, palette, onChange }: ColourFieldProps): JSX.Element {
  const slug = value !== null && "slug" in value ? value.slug : null;
  const own = value !== null && "value" in value ? value.value : null;
  const unknown = slug !== null && !palette.some((colour) => colour.slug === slug);
  const choose = (chosen: string): void => {
    if (chosen === NONE) onChange(null);
    else if (chosen === OWN) onChange({ value: own ?? "#000000" });
    else onChange({ slug: chosen.slice("slug ".length) });
  };
  return (
    <Field label={label}>
      {(ids) => (
        <div class="input-with">
          {own !== null && (
            <input type="color" class="input-colour" aria-label={t("forms.pick_colour", { name: label })} value={sixDigits(own)} onChange={(event) => onChange({ value: event.currentTarget.value })} />
          )}
          <select {...ids} class="select" value={slug !== null ? `slug ${slug}` : own !== null ? OWN : NONE} onChange={(event) => choose(event.currentTarget.value)}>
            <option value={NONE}>{t("editor.colour_none")}</option>
            {palette.map((colour) => (
              <option key={colour.slug} value={`slug ${colour.slug}`}>
                {colour.name}
              </option>
            ))}
            {unknown && <option value={`slug ${slug}`}>{slug}</option>}
            <option value={OWN}>{t("editor.colour_own")}</option>
          </select>
        </div>
      )}
    </Field>
  );
}
