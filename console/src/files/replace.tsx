/** A newer file in the place of one: its address stays, and every text that shows it shows the new one. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "../api";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { confirmed, toast } from "../ui";
import { ChooseButton } from "./drop";
import { fileOf, type LibraryFile } from "./file";
import { refresh } from "./fresh";
import { refusalText } from "./uploads";

interface ReplaceProps {
  resource: Resource;
  file: LibraryFile;
  onReplaced: () => void;
}

export function ReplaceButton({ resource, file, onReplaced }: ReplaceProps): JSX.Element {
  const [busy, setBusy] = useState(false);
  const replace = async (chosen: File): Promise<void> => {
    const refusal = refusalText(chosen, [file.mime]);
    if (refusal !== null) {
      toast.problem(`${chosen.name}: ${refusal}`);
      return;
    }
    const names = { name: file.name, file: chosen.name };
    if (!(await confirmed({ title: t("files.replace_question", names), text: t("files.replace_text", names), action: t("files.replace"), danger: true }))) return;
    setBusy(true);
    try {
      const { item } = await api().adapter.upload(resource, chosen, {}, { replaces: file.id });
      await refresh([file, fileOf(resource, item)].flatMap((one) => [one.url, ...Object.values(one.sizes).map((size) => size.url)]));
      toast.done(t("files.replaced", names));
      onReplaced();
    } catch (error) {
      toast.failed(error);
    }
    setBusy(false);
  };
  return <ChooseButton small busy={busy} many={false} types={[file.mime]} label={t("files.replace")} onFiles={([chosen]) => chosen !== undefined && void replace(chosen)} />;
}
