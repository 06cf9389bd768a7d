/** The front end's preview beside the form, as wide as a phone or as a desk, and the buttons that show it. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../../i18n";
import { prefer, preference } from "../../shell/preferences";
import { Button } from "../../ui";
import type { Preview } from "./preview";
import "./preview.css";

const PANE = "preview-pane";
const TOGGLE = "preview-toggle";

/** Widths of the page in the pane, in pixels; a wider one than the pane is made smaller. */
const WIDTHS = { phone: 390, desktop: 1280 } as const;
type Width = keyof typeof WIDTHS;
const NAMES = { phone: "forms.preview_phone", desktop: "forms.preview_desktop" } as const satisfies Record<Width, string>;
const KEPT = "preview-width";

export function PreviewButtons({ preview, busy }: { preview: Preview; busy: boolean }): JSX.Element {
  const open = preview.pane.value !== null;
  return (
    <>
      <Button kind="quiet" icon="eye" busy={busy} onClick={() => void preview.show()}>
        {t("forms.preview")}
      </Button>
      <Button
        id={TOGGLE}
        kind="quiet"
        icon="split"
        label={t("forms.preview_live")}
        aria-busy={preview.busy.value}
        aria-expanded={open}
        aria-controls={open ? PANE : undefined}
        onClick={() => (open ? preview.close() : void preview.openPane())}
      />
    </>
  );
}

export function PreviewPane({ preview, name }: { preview: Preview; name: string }): JSX.Element | null {
  const link = preview.pane.value;
  const width: Width = preference<string>(KEPT, "phone") === "desktop" ? "desktop" : "phone";
  if (link === null) {
    return null;
  }
  const close = (): void => {
    preview.close();
    document.getElementById(TOGGLE)?.focus();
  };
  return (
    <section id={PANE} class="preview-pane" aria-label={t("forms.preview_live")}>
      <div class="preview-bar">
        <div role="group" class="preview-widths" aria-label={t("forms.preview_width")}>
          {(Object.keys(WIDTHS) as Width[]).map((one) => (
            <Button key={one} small kind="quiet" aria-pressed={one === width} onClick={() => prefer(KEPT, one)}>
              {t(NAMES[one])}
            </Button>
          ))}
        </div>
        <Button small kind="quiet" icon="refresh" label={t("forms.preview_reload")} onClick={() => void preview.reload()} />
        <Button small kind="quiet" icon="close" label={t("forms.preview_close")} onClick={close} />
      </div>
      <Stage width={WIDTHS[width]}>
        {/* What the front end shows may use scripts and forms of its own, but neither opens windows nor leads this one away. */}
        <iframe
          key={link.address}
          ref={preview.attach}
          src={link.address}
          title={t("forms.preview_of", { name })}
          sandbox="allow-forms allow-same-origin allow-scripts"
          referrerpolicy="no-referrer"
          onLoad={preview.loaded}
        />
      </Stage>
    </section>
  );
}

/** Shows a page of a width in the place that there is. */
function Stage({ width, children }: { width: number; children: JSX.Element }): JSX.Element {
  const stage = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = stage.current;
    if (place === null) {
      return undefined;
    }
    const fit = (): void => {
      const scale = Math.min(1, place.clientWidth / width);
      place.style.setProperty("--page-width", `${width}px`);
      place.style.setProperty("--page-height", `${place.clientHeight / scale}px`);
      place.style.setProperty("--page-scale", String(scale));
    };
    const observer = new ResizeObserver(fit);
    observer.observe(place);
    fit();
    return () => observer.disconnect();
  }, [width]);
  return (
    <div ref={stage} class="preview-stage">
      {children}
    </div>
  );
}
