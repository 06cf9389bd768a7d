/** What a file is: its picture, player or icon, its facts, and what can be done with the file itself. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Id } from "../api/adapter";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { Button, LinkButton, toast } from "../ui";
import { editsPictures, fileOf, kindOf, type LibraryFile, replacesFiles } from "./file";
import { PictureEditor } from "./picture-editor";
import { ReplaceButton } from "./replace";
import { addressOf, Thumbnail } from "./thumbnail";
import { bytesText } from "./uploads";
import "./files.css";

interface SummaryProps {
  resource: Resource;
  file: LibraryFile;
  /** A file was made of this one. */
  onMade: (id: Id) => void;
  /** The file was replaced: what is known of it is old. */
  onReplaced: () => void;
}

export function Summary({ resource, file, onMade, onReplaced }: SummaryProps): JSX.Element {
  const [editing, setEditing] = useState(false);
  return (
    <div class="file-summary">
      <div class="file-side-picture">
        <Shown file={file} />
      </div>
      <div class="stack">
        <Facts file={file} />
        <div class="row">
          {kindOf(file.mime) === "image" && editsPictures(resource) && (
            <Button small icon="crop" onClick={() => setEditing(true)}>
              {t("files.edit")}
            </Button>
          )}
          <Links file={file} />
          {replacesFiles(resource) && addressOf(file.url) !== null && <ReplaceButton resource={resource} file={file} onReplaced={onReplaced} />}
        </div>
      </div>
      {editing && (
        <PictureEditor
          resource={resource}
          file={file}
          onClose={() => setEditing(false)}
          onSaved={(item) => {
            setEditing(false);
            onMade(fileOf(resource, item).id);
          }}
        />
      )}
    </div>
  );
}

function Shown({ file }: { file: LibraryFile }): JSX.Element {
  const address = addressOf(file.url);
  const kind = kindOf(file.mime);
  if (kind === "audio" && address !== null) return <audio controls src={address} aria-label={file.name} />;
  if (kind === "video" && address !== null) return <video controls src={address} aria-label={file.name} preload="metadata" />;
  return <Thumbnail file={file} width={320} alt={file.alt} />;
}

function Facts({ file }: { file: LibraryFile }): JSX.Element {
  const facts: [string, ComponentChildren][] = [
    [t("files.fact_name"), file.filename],
    [t("files.fact_type"), file.mime],
  ];
  if (file.width !== null && file.height !== null) facts.push([t("files.fact_size"), t("files.pixels", { width: file.width, height: file.height })]);
  if (file.bytes !== null) facts.push([t("files.fact_bytes"), bytesText(file.bytes)]);
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Links({ file }: { file: LibraryFile }): JSX.Element | null {
  const address = addressOf(file.url);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(file.url);
      toast.done(t("files.copied"));
    } catch {
      toast.problem(t("files.not_copied", { text: file.url }));
    }
  };
  return (
    <>
      {address !== null && (
        <LinkButton small icon="download" href={address} download={file.filename}>
          {t("files.download")}
        </LinkButton>
      )}
      <Button small icon="copy" onClick={() => void copy()}>
        {t("files.copy_address")}
      </Button>
    </>
  );
}
