/** What can be done with all selected records at once. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api";
import type { BatchResult, Id, Item } from "../../api/adapter";
import { t } from "../../i18n";
import type { Row } from "../../layouts";
import { collections, removal, removalArguments, restoring, settable, targets } from "../../model/actions";
import { requestName } from "../../model/list-states";
import { labelOfField } from "../../model/record";
import type { ListView } from "../../model/view-state";
import { Button, confirmed, Menu, type MenuItem, toast } from "../../ui";
import type { ListingProps } from "./listing";
import { RemovalDialog } from "./removal";
import { reportBatch } from "./report";
import { SetTermsDialog, setTerms } from "./set-terms";
import { SetValueDialog } from "./set-value";

/** What is said of a change, and what takes it back. */
type Report = [done: Parameters<typeof reportBatch>[1], undo?: (ids: Id[]) => void];

export interface BulkProps extends ListingProps {
  view: ListView;
  rows: Row[];
  /** The ids that stay selected: those that were not changed. */
  onDone: (left: Id[]) => void;
}

export function BulkBar(props: BulkProps): JSX.Element {
  const { resource, states, schema, rows, view, params, onDone } = props;
  const [progress, setProgress] = useState<number | null>(null);
  const [dialog, setDialog] = useState<"remove" | { field: string; many: boolean } | null>(null);
  const ids = rows.map((row) => row.id);
  const trashed = states.find((state) => state.name === view.state)?.trash === true;
  const how = removal(resource, states, trashed);
  const update = schema.args["update"] ?? {};
  const back = trashed ? restoring(resource, states) : null;
  const onProgress = (count: number): void => setProgress(count);

  const finish = async (work: Promise<BatchResult>, ...[done, undo]: Report): Promise<void> => {
    setProgress(0);
    try {
      const result = await work;
      reportBatch(result, done, undo);
      onDone(result.failed.map((one) => one.id));
    } catch (error) {
      toast.failed(error);
    }
    setProgress(null);
  };
  const change = (values: Item, ...[done = "lists.changed_many", undo]: Partial<Report>): void =>
    void finish(api().adapter.updateMany(resource, ids, values, { params, onProgress }), done, undo);
  /** Gives records back the states that they had. */
  const backTo = (before: Map<Id, unknown>) => (changed: Id[]) => {
    const states = [...new Set(changed.map((id) => before.get(id)))];
    const works = states.map((status) => api().adapter.updateMany(resource, changed.filter((id) => before.get(id) === status), { status }, { params }));
    void Promise.all(works).then((results) => results.forEach((result) => reportBatch(result, "lists.changed_many")), toast.failed);
  };
  const remove = async (): Promise<void> => {
    if (how === null) return;
    if (how.kind === "delete") {
      if (removalArguments(schema.args["delete"] ?? {}).length > 0) return setDialog("remove");
      const title = t("lists.delete_many_question", { count: ids.length });
      if (!(await confirmed({ title, text: t("lists.delete_text"), action: t("lists.delete"), danger: true }))) return;
    }
    const work = api().adapter.removeMany(resource, ids, { params, query: how.query, onProgress });
    await finish(work, how.kind === "trash" ? "lists.trashed_many" : "lists.deleted_many");
  };

  const stateItems: MenuItem[] = trashed
    ? []
    : targets(resource, states, null, update).map((state) => ({ name: state.name, label: state.label, onSelect: () => change({ status: requestName(state, update["status"]) }, "lists.changed_many", backTo(new Map(rows.map((row) => [row.id, row.item["status"]])))) }));
  const fieldItem = (many: boolean) => ([field]: [string, unknown]): MenuItem => ({
    name: field,
    label: labelOfField(resource, field),
    onSelect: () => setDialog({ field, many }),
  });
  const fieldItems = [...collections(resource, update).map(fieldItem(true)), ...settable(resource, update).map(fieldItem(false))];
  return (
    <div class="bulk" role="region" aria-label={t("lists.selection")}>
      <span class="bulk-count" role="status">
        {progress === null ? t("lists.selected", { count: ids.length }) : t("lists.progress", { done: progress, count: ids.length })}
      </span>
      {progress === null && (
        <>
          {stateItems.length > 0 && (
            <Menu label={t("lists.set_state")} kind="normal" small placement="top-start" items={stateItems}>
              {t("lists.set_state")}
            </Menu>
          )}
          {fieldItems.length > 0 && (
            <Menu label={t("lists.set_field")} kind="normal" small placement="top-start" items={fieldItems}>
              {t("lists.set_field")}
            </Menu>
          )}
          {back !== null && (
            <Button small icon="restore" onClick={() => change({ status: back }, "lists.restored_many")}>
              {t("lists.restore")}
            </Button>
          )}
          {how !== null && (
            <Button small kind="danger" icon="trash" onClick={() => void remove()}>
              {t(how.kind === "trash" ? "lists.trash" : "lists.delete")}
            </Button>
          )}
          <Button small kind="quiet" onClick={() => onDone([])}>
            {t("lists.unselect")}
          </Button>
        </>
      )}
      {dialog === "remove" && <RemovalDialog {...props} rows={rows} onClose={() => setDialog(null)} onDone={onDone} />}
      {dialog !== null && dialog !== "remove" && dialog.many && (
        <SetTermsDialog
          {...props}
          field={dialog.field}
          count={ids.length}
          onClose={() => setDialog(null)}
          onTerms={(terms, adds) => {
            setDialog(null);
            void finish(setTerms(props, ids, dialog.field, terms, adds), "lists.changed_many");
          }}
        />
      )}
      {dialog !== null && dialog !== "remove" && !dialog.many && (
        <SetValueDialog
          {...props}
          field={dialog.field}
          count={ids.length}
          onClose={() => setDialog(null)}
          onValue={(value) => {
            setDialog(null);
            change({ [dialog.field]: value });
          }}
        />
      )}
    </div>
  );
}
