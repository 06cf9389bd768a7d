/** A role: what its users may do, as a table of resources and actions, and a copy of it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api";
import { touched } from "../../api/changes";
import type { Resource } from "../../api/description";
import { language, t, type Key } from "../../i18n";
import { humanName } from "../../model/record";
import { href, navigate, place, places } from "../../router";
import { Page } from "../../shell/page";
import { Button, confirmed, Failed, Field, LinkButton, Skeleton, toast } from "../../ui";
import { useLoad } from "../../ui/hooks";
import type { ResourceScreenProps } from "../table";
import "./role.css";
import { othersOf, roleOf, rowsOf, switched, type CapabilityTable, type Role, type Row } from "./model";

/** The parameter of the address of a new role that names the one to copy. */
const COPY = "copy";

interface Opened {
  role: Role | null;
  /** Of the role: a change of what others have changed meanwhile is refused. */
  etag: string | null;
  roles: Role[];
  table: CapabilityTable;
}

async function load(resource: Resource, slug: string | null, signal: AbortSignal): Promise<Opened> {
  const { adapter, http } = api();
  const [found, one, table] = await Promise.all([
    adapter.list(resource, {}, { signal }),
    slug === null ? null : adapter.one(resource, slug, { signal }),
    http.request<CapabilityTable>("/console/v1/capabilities", { query: { lang: language.value }, signal }),
  ]);
  return { role: one === null ? null : roleOf(one.item), etag: one?.etag ?? null, roles: found.items.map(roleOf), table: table.data };
}

export function RoleScreen({ resource, id }: ResourceScreenProps): JSX.Element {
  const loaded = useLoad((signal) => load(resource, id, signal), [resource, id]);
  const opened = loaded.data;
  const title = opened?.role?.name ?? (id === null ? t("role.new") : resource.singular);
  return (
    <Page title={title} crumbs={[{ label: resource.label, path: places.list(resource.name) }]}>
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {opened === undefined && loaded.error === null && <Skeleton lines={8} />}
      {opened !== undefined && <Form key={opened.etag ?? ""} resource={resource} opened={opened} onChanged={loaded.reload} />}
    </Page>
  );
}

function Form({ resource, opened, onChanged }: { resource: Resource; opened: Opened; onChanged: () => void }): JSX.Element {
  const { role, etag, roles, table } = opened;
  const model = role ?? roles.find((one) => one.slug === new URLSearchParams(place.peek().search).get(COPY));
  const givable = new Set(table.capabilities.filter((one) => one.givable).map((one) => one.name));
  const [slug, setSlug] = useState("");
  const [name, setName] = useState(role?.name ?? "");
  // A copy has what the caller may give.
  const [held, setHeld] = useState<ReadonlySet<string>>(() => new Set(model?.capabilities.filter((one) => role !== null || givable.has(one))));
  const [busy, setBusy] = useState(false);
  const writes = resource.operations[role === null ? "create" : "update"] !== undefined && (role === null || role.editable);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      const values = { name, capabilities: [...held] };
      if (role === null) await api().adapter.create(resource, { slug, ...values });
      else await api().adapter.update(resource, role.slug, values, { ifMatch: etag });
      touched(resource.name);
      toast.done(t("role.saved", { name }));
      if (role === null) navigate(places.item(resource.name, slug), { force: true });
      else onChanged();
    } catch (error) {
      toast.failed(error);
    }
    setBusy(false);
  };
  const { rows, actions } = rowsOf(table);
  const others = othersOf(table, rows);
  const kept = role?.required === true ? new Set(role.capabilities) : new Set<string>();
  const box = (capability: string, label: string): JSX.Element => (
    <input
      type="checkbox"
      aria-label={label}
      title={capability}
      checked={held.has(capability)}
      disabled={!writes || !givable.has(capability) || kept.has(capability)}
      onChange={(event) => setHeld(switched(held, capability, event.currentTarget.checked))}
    />
  );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {role !== null && <p class="soft">{t(`role.${role.locked ? "locked" : role.origin}` satisfies Key)}</p>}
      {!writes && role?.locked === false && <p class="notice">{t("role.beyond")}</p>}
      {role === null && (
        <Field label={t("role.slug")} help={t("role.slug_help")} required>
          {(ids) => <input {...ids} class="input" required pattern="[a-z0-9][a-z0-9_\-]{0,39}" value={slug} onInput={(event) => setSlug(event.currentTarget.value)} />}
        </Field>
      )}
      <Field label={t("role.name")} required>
        {(ids) => <input {...ids} class="input" required maxLength={60} disabled={!writes} value={name} onInput={(event) => setName(event.currentTarget.value)} />}
      </Field>
      <h2>{t("role.actions")}</h2>
      <p class="soft">{t("role.actions_help")}</p>
      <Switches rows={rows} actions={actions} box={box} />
      <h2>{t("role.others")}</h2>
      <ul class="stack capabilities">
        {others.map((capability) => (
          <li key={capability}>
            <label class="row">
              {box(capability, capability)}
              {capability}
            </label>
          </li>
        ))}
      </ul>
      <div class="row">
        {writes && (
          <Button kind="primary" icon="check" type="submit" busy={busy}>
            {t("role.save")}
          </Button>
        )}
        {role !== null && resource.operations["create"] !== undefined && (
          <LinkButton icon="copy" href={`${href(places.create(resource.name))}?${COPY}=${role.slug}`}>
            {t("role.copy")}
          </LinkButton>
        )}
      </div>
      {role !== null && writes && role.origin !== "declared" && <Removal resource={resource} role={role} roles={roles} onChanged={onChanged} />}
    </form>
  );
}

function Switches({ rows, actions, box }: { rows: Row[]; actions: string[]; box: (capability: string, label: string) => JSX.Element }): JSX.Element {
  return (
    <div class="table-frame" role="region" aria-label={t("role.actions")} tabIndex={0}>
      <table class="table capabilities">
        <thead>
          <tr>
            <th scope="col">{t("role.resources")}</th>
            {actions.map((action) => (
              <th key={action} scope="col">
                {actionLabel(action)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.labels.join()} class="table-row">
              <th scope="row">{row.labels.join(", ")}</th>
              {actions.map((action) => {
                const capability = row.actions.get(action);
                return (
                  <td key={action} data-label={actionLabel(action)}>
                    {capability !== undefined && box(capability, `${row.labels.join(", ")}: ${actionLabel(action)}`)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Deletes what is stored: a role of its own, whose users get another one, or the change of a declared one. */
function Removal({ resource, role, roles, onChanged }: { resource: Resource; role: Role; roles: Role[]; onChanged: () => void }): JSX.Element {
  const others = roles.filter((other) => other.slug !== role.slug && other.editable);
  const [to, setTo] = useState("");
  const stored = role.origin === "stored";
  const remove = async (): Promise<void> => {
    const text = t(stored ? "role.delete_text" : "role.reset_text");
    if (!(await confirmed({ title: t(stored ? "role.delete_question" : "role.reset_question", { name: role.name }), text, action: t(stored ? "role.delete" : "role.reset"), danger: true }))) return;
    try {
      await api().adapter.remove(resource, role.slug, stored && to !== "" ? { query: { reassign: to } } : {});
      touched(resource.name);
      toast.done(t(stored ? "role.deleted" : "role.was_reset", { name: role.name }));
      if (stored) navigate(places.list(resource.name), { force: true });
      else onChanged();
    } catch (error) {
      toast.failed(error);
    }
  };
  return (
    <section class="record-panel row" aria-label={t(stored ? "role.delete" : "role.reset")}>
      {stored && (
        <select class="select select-small" aria-label={t("role.reassign")} value={to} onChange={(event) => setTo(event.currentTarget.value)}>
          <option value="">{t("role.no_users")}</option>
          {others.map((other) => (
            <option key={other.slug} value={other.slug}>
              {t("role.reassign_to", { name: other.name })}
            </option>
          ))}
        </select>
      )}
      <Button kind="danger" onClick={() => void remove()}>
        {t(stored ? "role.delete" : "role.reset")}
      </Button>
    </section>
  );
}

const ACTIONS = [
  "read", "create", "edit", "edit_others", "edit_published", "edit_private", "publish", "read_private", "delete", "delete_others", "delete_published",
  "delete_private", "manage", "assign", "moderate", "skip_limits", "list", "promote",
] as const;

function actionLabel(action: string): string {
  const known = ACTIONS.find((one) => one === action);
  return known === undefined ? humanName(action) : t(`role.action_${known}` satisfies Key);
}
