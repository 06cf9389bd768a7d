/** What else can be done with a record: operations that need nothing but it, such as an invitation. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "../api";
import type { Id } from "../api/adapter";
import { touched } from "../api/changes";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { type Direct, directOperations } from "../model/actions";
import { humanName } from "../model/record";
import { Button, toast } from "../ui";
import { useLoad } from "../ui/hooks";

/** Operations that have a text of their own; others are called as they are declared. */
const KNOWN = ["invite"] as const;

function labelOf(name: string): string {
  const known = KNOWN.find((one) => one === name);
  return known === undefined ? humanName(name) : t(`people.operation_${known}`);
}

function doneText(name: string, title: string): string {
  const known = KNOWN.find((one) => one === name);
  return known === undefined ? t("people.operation_done", { action: humanName(name), name: title }) : t(`people.did_${known}`, { name: title });
}

export function Operations({ resource, id, title }: { resource: Resource; id: Id; title: string }): JSX.Element | null {
  const loaded = useLoad(() => api().schemas.of(resource), [resource]);
  const operations = loaded.data === undefined ? [] : directOperations(resource, loaded.data.args);
  if (operations.length === 0) return null;
  return (
    <div class="row" role="group" aria-label={t("people.actions")}>
      {operations.map((operation) => (
        <Run key={operation.name} operation={operation} resource={resource} id={id} title={title} />
      ))}
    </div>
  );
}

function Run({ operation, resource, id, title }: { operation: Direct; resource: Resource; id: Id; title: string }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await api().adapter.call(resource, operation.name, { id, body: operation.body });
      touched(resource.name);
      toast.done(doneText(operation.name, title));
    } catch (error) {
      toast.failed(error);
    }
    setBusy(false);
  };
  return (
    <Button busy={busy} onClick={() => void run()}>
      {labelOf(operation.name)}
    </Button>
  );
}
