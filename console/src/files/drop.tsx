/** Where files can be dropped and pasted, and the button that chooses them. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { t } from "../i18n";
import { Button, Icon } from "../ui";
import { useLatest } from "../ui/hooks";
import { acceptOf } from "./limits";
import "./files.css";

interface DropAreaProps {
  onFiles: (files: File[]) => void;
  /** Files in the clipboard are taken, too, wherever the focus is on the page. */
  paste?: boolean;
  children: ComponentChildren;
}

function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") === true;
}

export function DropArea({ onFiles, paste = false, children }: DropAreaProps): JSX.Element {
  // Entering an element within the area comes before leaving the one around it.
  const [depth, setDepth] = useState(0);
  usePaste(paste, onFiles);
  return (
    <div
      class="drop-area"
      data-over={depth > 0}
      onDragEnter={(event) => carriesFiles(event) && (event.preventDefault(), setDepth((n) => n + 1))}
      onDragOver={(event) => carriesFiles(event) && event.preventDefault()}
      onDragLeave={(event) => carriesFiles(event) && setDepth((n) => Math.max(0, n - 1))}
      onDrop={(event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        setDepth(0);
        onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      {children}
      {depth > 0 && (
        <div class="drop-note" aria-hidden="true">
          <Icon name="upload" size={32} />
          <span>{t("files.drop_here")}</span>
        </div>
      )}
    </div>
  );
}

function usePaste(on: boolean, onFiles: (files: File[]) => void): void {
  const latest = useLatest(onFiles);
  useEffect(() => {
    if (!on) return undefined;
    const pasted = (event: ClipboardEvent): void => {
      const files = [...(event.clipboardData?.files ?? [])];
      // What is pasted into a field is its own; so is a text that comes with a picture of it.
      const typing = event.target instanceof HTMLElement && (event.target.isContentEditable || /^(input|textarea)$/i.test(event.target.tagName));
      if (files.length === 0 || typing || event.defaultPrevented || event.clipboardData?.types.includes("text/plain") === true) return;
      event.preventDefault();
      latest.current(files);
    };
    document.addEventListener("paste", pasted);
    return () => document.removeEventListener("paste", pasted);
  }, [on]);
}

interface ChooseProps {
  onFiles: (files: File[]) => void;
  many?: boolean;
  /** MIME types, or their first parts; none: what the site takes. */
  types?: readonly string[];
  kind?: "normal" | "primary";
  small?: boolean;
  busy?: boolean;
  label?: string;
}

export function ChooseButton({ onFiles, many = true, types = [], kind = "normal", small = false, busy = false, label = t("files.upload") }: ChooseProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon="upload" kind={kind} small={small} busy={busy} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple={many}
        accept={acceptOf(api().description.site, types)}
        aria-label={label}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          // The same file can be chosen again.
          event.currentTarget.value = "";
          if (files.length > 0) onFiles(files);
        }}
      />
    </>
  );
}
