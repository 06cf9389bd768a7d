/** How the blocks around the cursor look: colours, widths, pictures of frames. Each change takes effect at once, and can be undone. */

import type { Node } from "prosemirror-model";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { sixDigits } from "../controls/colour";
import { t } from "../i18n";
import { Button, Dialog, Field } from "../ui";
import { type Colour, colourOf, coloursOf, type Part, withColour } from "./colours";
import { setAttrs } from "./commands";
import { Line } from "./inputs";
import { nameOf } from "./node-views";
import type { Session } from "./session";
import {
  columnWidth, dimOf, isRight, isUnfolded, mediaWidth, pictureAlt, pictureTag, settable, takesPicture, withColumnWidth, withDim, withMediaWidth, withPicture, withPictureAlt, withSide, withUnfolded,
} from "./settings";
import type { EditorProps, NamedColour } from "./types";

type Set = (attrs: Record<string, unknown> | null) => void;

export function SettingsDialog({ session, props, onClose }: { session: Session; props: EditorProps; onClose(): void }): JSX.Element {
  const [, redraw] = useState(0);
  const blocks = settable(session.view.state);
  const classic = session.view.state.doc.attrs["classic"] === true;
  return (
    <Dialog title={t("editor.settings")} kind="side" onClose={onClose}>
      {blocks.length === 0 && <p class="soft">{t("editor.settings_none")}</p>}
      <div class="stack">
        {blocks.map(({ node, pos }) => {
          const set: Set = (attrs) => {
            if (attrs === null) return;
            setAttrs(pos, attrs)(session.view.state, session.view.dispatch);
            redraw((n) => n + 1);
          };
          return (
            <fieldset key={pos} class="stack editor-settings">
              <legend class="field-label">{nameOf(node)}</legend>
              {node.type.name === "column" && <Percent label={t("editor.width_percent")} value={columnWidth(node)} empty onChange={(width) => set(withColumnWidth(node, width))} />}
              {(node.type.name === "cover" || node.type.name === "media_text") && <Media node={node} set={set} session={session} props={props} />}
              {node.type.name === "media_text" && <Beside node={node} set={set} />}
              {node.type.name === "cover" && dimOf(node) !== null && <Percent label={t("editor.dim")} value={dimOf(node)} onChange={(ratio) => set(withDim(node, ratio ?? 100))} />}
              {node.type.name === "details" && (
                <label class="check">
                  <input type="checkbox" checked={isUnfolded(node)} onChange={(event) => set(withUnfolded(node, event.currentTarget.checked))} />
                  {t("editor.unfolded")}
                </label>
              )}
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

function Media({ node, set, session, props }: { node: Node; set: Set; session: Session; props: EditorProps }): JSX.Element {
  const pick = props.picture?.pick;
  return (
    <>
      {pick !== undefined && takesPicture(node) && (
        <div>
          <Button
            onClick={() =>
              void pick({ many: false }).then(([picture]) => {
                if (picture !== undefined && !session.view.isDestroyed) set(withPicture(node, picture));
              })
            }
          >
            {t(pictureTag(node) === null ? "editor.picture_choose" : "editor.picture_replace")}
          </Button>
        </div>
      )}
      {pictureTag(node) !== null && (
        <Field label={t("editor.alt")} help={t("editor.alt_hint")}>
          {(ids) => <Line ids={ids} value={pictureAlt(node)} onText={(alt) => set(withPictureAlt(node, alt))} />}
        </Field>
      )}
    </>
  );
}

function Beside({ node, set }: { node: Node; set: Set }): JSX.Element {
  return (
    <>
      <Field label={t("editor.side")}>
        {(ids) => (
          <select {...ids} class="select" value={isRight(node) ? "right" : "left"} onChange={(event) => set(withSide(node, event.currentTarget.value === "right"))}>
            <option value="left">{t("editor.side_start")}</option>
            <option value="right">{t("editor.side_end")}</option>
          </select>
        )}
      </Field>
      <Percent label={t("editor.media_width")} value={mediaWidth(node)} onChange={(width) => set(withMediaWidth(node, Math.min(85, Math.max(15, width ?? 50))))} />
    </>
  );
}

interface PercentProps {
  label: string;
  value: number | null;
  /** Nothing is a value, too. */
  empty?: boolean;
  onChange(value: number | null): void;
}

function Percent({ label, value, empty, onChange }: PercentProps): JSX.Element {
  return (
    <Field label={label}>
      {(ids) => (
        <input
          {...ids}
          class="input"
          type="number"
          min={0}
          max={100}
          step="any"
          value={value ?? ""}
          onChange={(event) => {
            const number = event.currentTarget.valueAsNumber;
            if (Number.isFinite(number)) onChange(Math.min(100, Math.max(0, Math.round(number * 100) / 100)));
            else if (empty === true) onChange(null);
          }}
        />
      )}
    </Field>
  );
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
