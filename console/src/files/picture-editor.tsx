/** Cuts, turns and mirrors a picture. The server makes a new record of it; the former one stays as it is. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { api } from "../api";
import type { Item } from "../api/adapter";
import { touched } from "../api/changes";
import type { Resource } from "../api/description";
import { messageOf } from "../api/http";
import { t } from "../i18n";
import { humanName } from "../model/record";
import { Button, Dialog, Loading, toast } from "../ui";
import { type Extent, modifiersOf, type Rect, type Ratio, ratiosOf } from "./crop";
import { type Cut, cutOf, setPart, setPoint, setRatio, setSide, sizeOf, turn } from "./cut";
import type { LibraryFile } from "./file";
import { Preview, Stage } from "./stage";
import { addressOf } from "./thumbnail";
import "./files.css";

interface EditorProps {
  resource: Resource;
  file: LibraryFile;
  onClose: () => void;
  /** The record of the new picture. */
  onSaved: (item: Item) => void;
}

export function PictureEditor({ resource, file, onClose, onSaved }: EditorProps): JSX.Element {
  const image = useImage(file);
  const [busy, setBusy] = useState(false);
  const [cut, setCut] = useState<Cut | null>(null);
  useEffect(() => {
    if (image instanceof HTMLImageElement) setCut(cutOf(extentOf(file, image)));
  }, [image]);
  const steps = cut === null ? [] : modifiersOf(cut.pose, cut.rect, cut.original);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      const { data } = await api().adapter.call<Item>(resource, "edit", { id: file.id, body: { src: file.url, modifiers: steps } });
      touched(resource.name);
      toast.done(t("files.edited", { name: file.name }));
      onSaved(data);
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("files.edit_title", { name: file.name })}
      kind="wide"
      onClose={onClose}
      actions={
        <>
          <span class="soft">{t("files.edit_note")}</span>
          <span class="spread" />
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button kind="primary" busy={busy} disabled={steps.length === 0} onClick={() => void save()}>
            {t("files.save_new")}
          </Button>
        </>
      }
    >
      {image instanceof Error && <p class="notice notice-bad">{messageOf(image)}</p>}
      {image === null && <Loading />}
      {image instanceof HTMLImageElement && cut !== null && <Desk image={image} cut={cut} file={file} onChange={setCut} />}
    </Dialog>
  );
}

/** The size of the file itself: what is shown may be a smaller copy. */
function extentOf(file: LibraryFile, image: HTMLImageElement): Extent {
  return { width: file.width ?? image.naturalWidth, height: file.height ?? image.naturalHeight };
}

function useImage(file: LibraryFile): HTMLImageElement | Error | null {
  const [image, setImage] = useState<HTMLImageElement | Error | null>(null);
  useEffect(() => {
    const address = addressOf(file.url);
    if (address === null) {
      setImage(new Error(t("files.elsewhere")));
      return;
    }
    const loading = new Image();
    loading.onload = () => setImage(loading);
    loading.onerror = () => setImage(new Error(t("files.not_shown")));
    loading.src = address;
  }, [file.url]);
  return image;
}

interface DeskProps {
  image: HTMLImageElement;
  cut: Cut;
  file: LibraryFile;
  onChange: (cut: Cut) => void;
}

function Desk({ image, cut, file, onChange }: DeskProps): JSX.Element {
  const id = useId();
  const size = sizeOf(cut);
  return (
    <div class="crop-desk">
      <Stage image={image} cut={cut} onChange={onChange} describedBy={`${id}-keys`} />
      <div class="crop-tools stack">
        <Tool label={t("files.turn")}>
          <Button icon="undo" label={t("files.turn_left")} onClick={() => onChange(turn(cut, "left"))} />
          <Button icon="redo" label={t("files.turn_right")} onClick={() => onChange(turn(cut, "right"))} />
          <Button onClick={() => onChange(turn(cut, "horizontal"))}>{t("files.mirror_horizontal")}</Button>
          <Button onClick={() => onChange(turn(cut, "vertical"))}>{t("files.mirror_vertical")}</Button>
        </Tool>
        <Tool label={t("files.way")}>
          <Button aria-pressed={cut.point === null} onClick={() => onChange(setPoint(cut, null))}>
            {t("files.way_frame")}
          </Button>
          <Button aria-pressed={cut.point !== null} onClick={() => onChange(setPoint(cut, { x: size.width / 2, y: size.height / 2 }))}>
            {t("files.way_point")}
          </Button>
        </Tool>
        <Ratios cut={cut} file={file} onChange={onChange} />
        {cut.point === null ? <Sides cut={cut} onChange={onChange} /> : <Focus cut={cut} onChange={onChange} />}
        <p id={`${id}-keys`} class="field-help">
          {t(cut.point === null ? "files.keys_frame" : "files.keys_point")}
        </p>
        <figure class="stack">
          <figcaption class="field-label">{t("files.result", { width: cut.rect.width, height: cut.rect.height })}</figcaption>
          <Preview image={image} cut={cut} width={240} />
        </figure>
        <Button kind="quiet" icon="undo" onClick={() => onChange(cutOf(cut.original))}>
          {t("files.reset")}
        </Button>
      </div>
    </div>
  );
}

function Tool({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  const id = useId();
  return (
    <div class="field" role="group" aria-labelledby={id}>
      <span id={id} class="field-label">
        {label}
      </span>
      <div class="row">{children}</div>
    </div>
  );
}

function Ratios({ cut, file, onChange }: Omit<DeskProps, "image">): JSX.Element {
  const { common, cut: sized } = ratiosOf(file.sizes, cut.original);
  const all: Ratio[] = [...common, ...sized];
  const id = useId();
  const current = all.findIndex((ratio) => ratio.value === cut.ratio);
  const { width, height } = sizeOf(cut);
  const own = cut.ratio !== null && current < 0;
  return (
    <div class="field">
      <label class="field-label" htmlFor={id}>
        {t("files.ratio")}
      </label>
      <select
        id={id}
        class="select"
        value={cut.ratio === null ? "free" : own ? "own" : String(current)}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onChange(setRatio(cut, value === "free" ? null : value === "own" ? width / height : (all[Number(value)]?.value ?? null)));
        }}
      >
        <option value="free">{t("files.ratio_free")}</option>
        <option value="own">{t("files.ratio_own")}</option>
        {all.map((ratio, place) => (
          <option key={ratio.name} value={String(place)}>
            {place < common.length ? ratio.name : t("files.ratio_size", { name: humanName(ratio.name) })}
          </option>
        ))}
      </select>
    </div>
  );
}

const SIDES: (keyof Rect)[] = ["left", "top", "width", "height"];

function Sides({ cut, onChange }: { cut: Cut; onChange: (cut: Cut) => void }): JSX.Element {
  const size = sizeOf(cut);
  return (
    <div class="crop-numbers">
      {SIDES.map((side) => (
        <NumberField
          key={side}
          label={t(`files.side_${side}`)}
          value={cut.rect[side]}
          most={side === "left" || side === "width" ? size.width : size.height}
          onChange={(value) => onChange(setSide(cut, side, value))}
        />
      ))}
    </div>
  );
}

function Focus({ cut, onChange }: { cut: Cut; onChange: (cut: Cut) => void }): JSX.Element | null {
  const id = useId();
  const { point } = cut;
  if (point === null) return null;
  const size = sizeOf(cut);
  const share = (value: number, all: number): number => Math.round((value / all) * 100);
  return (
    <div class="stack">
      <div class="crop-numbers">
        <NumberField label={t("files.point_x")} value={share(point.x, size.width)} most={100} onChange={(value) => onChange(setPoint(cut, { ...point, x: (value / 100) * size.width }))} />
        <NumberField label={t("files.point_y")} value={share(point.y, size.height)} most={100} onChange={(value) => onChange(setPoint(cut, { ...point, y: (value / 100) * size.height }))} />
      </div>
      <div class="field">
        <label class="field-label" htmlFor={id}>
          {t("files.part", { count: Math.round(cut.part * 100) })}
        </label>
        <input id={id} type="range" min={10} max={100} value={Math.round(cut.part * 100)} onInput={(event) => onChange(setPart(cut, Number(event.currentTarget.value) / 100))} />
      </div>
    </div>
  );
}

interface NumberProps {
  label: string;
  value: number;
  most: number;
  onChange: (value: number) => void;
}

/** While somebody types, the text stays as it is typed. */
function NumberField({ label, value, most, onChange }: NumberProps): JSX.Element {
  const [typed, setTyped] = useState<string | null>(null);
  const id = useId();
  return (
    <div class="field">
      <label class="field-label" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        class="input"
        type="number"
        min={0}
        max={Math.round(most)}
        value={typed ?? String(Math.round(value))}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          const number = event.currentTarget.valueAsNumber;
          if (Number.isFinite(number)) onChange(number);
        }}
        onBlur={() => setTyped(null)}
      />
    </div>
  );
}
