/** A deletion for which somebody has to choose what becomes of what the records own. */

import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { api } from "../../api";
import { argument, everyState, type Id, idOf } from "../../api/adapter";
import { t } from "../../i18n";
import type { Row } from "../../layouts";
import { removalArguments } from "../../model/actions";
import { STATE_ARGUMENT } from "../../model/list-states";
import { labelOf } from "../../model/record";
import { searchRecords } from "../../model/search";
import { relationsTo } from "../../related/panels";
import { Button, Dialog, Skeleton, toast } from "../../ui";
import { useLoad } from "../../ui/hooks";
import { type Choice, Combobox } from "../../ui/combobox";
import type { ListingProps } from "./listing";
import { reportBatch } from "./report";

export interface RemovalProps extends ListingProps {
  rows: Row[];
  onClose: () => void;
  /** The ids that are still there. */
  onDone: (left: Id[]) => void;
}

/** What the argument says for "delete that, too". */
const NOBODY = "false";
/** Records whose possessions are counted. */
const MOST_COUNTED = 10;

export function RemovalDialog(props: RemovalProps): JSX.Element {
  const { resource, schema, params, rows, onClose, onDone } = props;
  const wanted = removalArguments(schema.args["delete"] ?? {}).map(([name]) => name);
  const [gives, setGives] = useState<boolean | null>(null);
  const [heir, setHeir] = useState<Choice[]>([]);
  const [busy, setBusy] = useState(false);
  const owned = useLoad((signal) => possessions(props, signal), [resource, rows]);
  const nothing = owned.data !== undefined && owned.data.length === 0;
  const chosen = nothing || gives === false ? NOBODY : gives === true ? heir[0]?.value : undefined;
  const ids = rows.map((row) => row.id);
  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      const query = { force: true, ...Object.fromEntries(wanted.map((name) => [name, chosen ?? ""])) };
      const result = await api().adapter.removeMany(resource, ids, { params, query });
      reportBatch(result, "lists.deleted_many");
      onDone(result.failed.map((one) => one.id));
      onClose();
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };
  const only = rows.length === 1 ? rows[0] : undefined;
  return (
    <Dialog
      title={only === undefined ? t("lists.delete_many_question", { count: rows.length }) : t("lists.delete_question", { name: only.title })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button kind="danger" disabled={chosen === undefined} busy={busy} onClick={() => void remove()}>
            {t("lists.delete")}
          </Button>
        </>
      }
    >
      <div class="stack">
        {only === undefined && <p>{rows.map((row) => row.title).join(", ")}</p>}
        {owned.data === undefined && owned.error === null ? (
          <Skeleton lines={2} />
        ) : nothing ? (
          <p>{t("lists.owns_nothing")}</p>
        ) : (
          <Possessions props={props} owned={owned.data ?? null} gives={gives} onGives={setGives} heir={heir} onHeir={setHeir} />
        )}
        <p>{t("lists.delete_text")}</p>
      </div>
    </Dialog>
  );
}

interface PossessionsProps {
  props: RemovalProps;
  /** How many there are of each kind; null: nobody has counted. */
  owned: Owned[] | null;
  gives: boolean | null;
  onGives: (gives: boolean) => void;
  heir: Choice[];
  onHeir: (heir: Choice[]) => void;
}

function Possessions({ props, owned, gives, onGives, heir, onHeir }: PossessionsProps): JSX.Element {
  const { resource, params, rows } = props;
  const name = useId();
  const names = rows.map((row) => row.title).join(", ");
  const what = owned?.map((one) => `${one.count} × ${one.label}`).join(", ") ?? "";
  const search = async (text: string, signal: AbortSignal): Promise<Choice[]> => {
    const items = await searchRecords(api(), resource, text, { signal, params });
    const others = items.filter((item) => !rows.some((row) => String(row.id) === String(idOf(resource, item))));
    return others.map((item) => ({ value: String(idOf(resource, item)), label: labelOf(resource, item, (id) => `#${id}`) }));
  };
  return (
    <fieldset class="stack-tight">
      <legend>{what === "" ? t("lists.owns_something", { names }) : t("lists.owns", { names, what })}</legend>
      <label class="check">
        <input type="radio" name={name} checked={gives === true} onChange={() => onGives(true)} />
        {t("lists.owned_give")}
      </label>
      {gives === true && <Combobox label={t("lists.owned_give")} search={search} value={heir} onChange={onHeir} />}
      <label class="check">
        <input type="radio" name={name} checked={gives === false} onChange={() => onGives(false)} />
        {t("lists.owned_delete")}
      </label>
    </fieldset>
  );
}

interface Owned {
  label: string;
  count: number;
}

/** Records that refer to those that go, in whatever state, by kind. */
async function possessions({ resource, rows }: RemovalProps, signal: AbortSignal): Promise<Owned[]> {
  const { description, adapter, schemas } = api();
  if (rows.length > MOST_COUNTED) throw new Error("These are too many to be counted.");
  const relations = relationsTo(resource, description).filter(({ resource: other }) => other.supports.includes("author"));
  const counted = await Promise.all(
    relations.map(async ({ resource: other, select }): Promise<Owned> => {
      const status = (await schemas.of(other)).args["list"]?.[STATE_ARGUMENT];
      const states = argument(other, "list", STATE_ARGUMENT) && other.states.length > 0 ? { [STATE_ARGUMENT]: everyState(other, status) } : {};
      const totals = await Promise.all(
        rows.map(async (row) => {
          const page = await adapter.list(other, { ...states, ...select(row.id), per_page: 1, _fields: other.key }, { signal });
          return page.total ?? page.items.length;
        }),
      );
      return { label: other.label, count: totals.reduce((sum, total) => sum + total, 0) };
    }),
  );
  return counted.filter(({ count }) => count > 0);
}
