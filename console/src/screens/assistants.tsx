/** Assistants and other programs: the address to give them, which there are with their last use, and what they called. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, findResource } from "../api";
import { locale, t } from "../i18n";
import { momentOf, relativeText } from "../model/moments";
import { Page } from "../shell/page";
import { Button, confirmed, Empty, Failed, Skeleton, toast } from "../ui";
import { useLoad } from "../ui/hooks";
import type { ScreenProps } from "./table";

interface Program {
  uuid: string;
  user: number;
  user_name: string;
  name: string;
  connected: boolean;
  scope: "read" | "draft" | "write";
  resources: string[];
  last_used: string | null;
  last_ip: string;
  expires: string | null;
}

interface Assistants {
  address: string | null;
  oauth: boolean;
  programs: Program[];
  /** The resource whose records the credentials are; null: there is none. */
  credentials: string | null;
  /** The resource with the audit trail; null: there is none. */
  trail: string | null;
}

/** The entry of the audit trail for a call of a tool. */
const CALLED = "tool_called";
/** Calls that are shown. */
const MOST = 50;

export function AssistantsScreen(_: ScreenProps): JSX.Element {
  const { http } = api();
  const loaded = useLoad(async (signal) => (await http.request<Assistants>("/console/v1/assistants", { signal })).data, [http]);
  const data = loaded.data;
  return (
    <Page title={t("assistants.title")} width="narrow">
      <p class="soft">{t("assistants.text")}</p>
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {data === undefined && loaded.error === null && <Skeleton lines={6} />}
      {data !== undefined && (
        <>
          <Address data={data} />
          <Programs programs={data.programs} credentials={data.credentials} onRevoked={loaded.reload} />
          <Calls trail={data.trail} />
        </>
      )}
    </Page>
  );
}

function Address({ data }: { data: Assistants }): JSX.Element {
  if (data.address === null) return <p class="notice">{t("assistants.off")}</p>;
  const address = data.address;
  const copy = (): void => {
    navigator.clipboard.writeText(address).then(
      () => toast.done(t("forms.copied")),
      (error: unknown) => toast.failed(error),
    );
  };
  return (
    <section class="record-panel stack" aria-labelledby="assistants-address">
      <h2 id="assistants-address">{t("assistants.address")}</h2>
      <p>{t(data.oauth ? "assistants.address_oauth" : "assistants.address_password")}</p>
      <div class="row">
        <input class="input" readOnly value={address} aria-labelledby="assistants-address" onFocus={(event) => event.currentTarget.select()} />
        <Button icon="copy" onClick={copy}>
          {t("forms.copy")}
        </Button>
      </div>
    </section>
  );
}

function Programs({ programs, credentials, onRevoked }: { programs: Program[]; credentials: string | null; onRevoked: () => void }): JSX.Element {
  return (
    <section class="record-panel stack" aria-labelledby="assistants-programs">
      <h2 id="assistants-programs">{t("assistants.programs")}</h2>
      {programs.length === 0 ? (
        <Empty title={t("assistants.no_programs")} icon="key" />
      ) : (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t("assistants.program")}</th>
              <th scope="col">{t("assistants.user")}</th>
              <th scope="col">{t("assistants.scope")}</th>
              <th scope="col">{t("assistants.last_used")}</th>
              <th scope="col">
                <span class="hidden-visually">{t("assistants.revoke")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {programs.map((program) => (
              <tr key={program.uuid}>
                <th scope="row">
                  {program.name} <span class="soft">{t(program.connected ? "assistants.connected" : "assistants.password")}</span>
                </th>
                <td>{program.user_name}</td>
                <td>
                  {t(`assistants.scope_${program.scope}`)}
                  {program.resources.length > 0 && <span class="soft"> {program.resources.join(", ")}</span>}
                </td>
                <td>
                  {relative(program.last_used) ?? t("assistants.never")}
                  {program.last_ip !== "" && <span class="soft"> {program.last_ip}</span>}
                </td>
                <td>
                  <Revoke program={program} credentials={credentials} onRevoked={onRevoked} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Revoke({ program, credentials, onRevoked }: { program: Program; credentials: string | null; onRevoked: () => void }): JSX.Element | null {
  const resource = findResource(credentials ?? "");
  if (resource?.parent === undefined || resource.parent === null || resource.operations["delete"] === undefined) return null;
  const { parameter } = resource.parent;
  const revoke = async (): Promise<void> => {
    if (!(await confirmed({ title: t("assistants.revoke_question", { name: program.name }), text: t("assistants.revoke_text"), action: t("assistants.revoke"), danger: true }))) return;
    try {
      await api().adapter.remove(resource, program.uuid, { params: { [parameter]: String(program.user) } });
      toast.done(t("assistants.revoked", { name: program.name }));
      onRevoked();
    } catch (error) {
      toast.failed(error);
    }
  };
  return (
    <Button small kind="quiet" label={t("assistants.revoke_named", { name: program.name })} onClick={() => void revoke()}>
      {t("assistants.revoke")}
    </Button>
  );
}

/** The log of calls, for those who may read the audit trail. */
function Calls({ trail: name }: { trail: string | null }): JSX.Element | null {
  const [client, setClient] = useState("");
  const trail = findResource(name ?? "");
  const loaded = useLoad(
    async (signal) => (trail === undefined ? [] : (await api().adapter.list(trail, { event: [CALLED], per_page: MOST, order: "desc" }, { signal })).items),
    [trail],
  );
  if (trail === undefined) return null;
  const all = loaded.data ?? [];
  const clients = [...new Set(all.map((entry) => String(entry["client"] ?? "")))].filter((name) => name !== "").sort();
  const shown = all.filter((entry) => client === "" || entry["client"] === client);
  return (
    <section class="record-panel stack" aria-labelledby="assistants-calls">
      <div class="row">
        <h2 id="assistants-calls">{t("assistants.calls")}</h2>
        {clients.length > 1 && (
          <select class="select select-small" aria-label={t("assistants.client")} value={client} onChange={(event) => setClient(event.currentTarget.value)}>
            <option value="">{t("assistants.all_clients")}</option>
            {clients.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
      <p class="soft">{t("assistants.calls_text", { count: MOST })}</p>
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {shown.length === 0 && loaded.error === null ? (
        <p class="soft">{t("assistants.no_calls")}</p>
      ) : (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t("assistants.tool")}</th>
              <th scope="col">{t("assistants.client")}</th>
              <th scope="col">{t("assistants.user")}</th>
              <th scope="col">{t("assistants.when")}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((entry) => (
              <tr key={String(entry["id"])}>
                <td>{String(entry["subject"] ?? "")}</td>
                <td>{String(entry["client"] ?? "")}</td>
                <td>{String(entry["login"] ?? "")}</td>
                <td>{relative(typeof entry["date"] === "string" ? `${entry["date"]}Z` : null) ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function relative(time: string | null): string | null {
  const at = momentOf(time, "time", "UTC");
  return at === null ? null : relativeText(at, new Date(), locale.value);
}
