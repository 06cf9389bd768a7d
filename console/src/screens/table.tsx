/**
 * Which screen an address shows: one row for each form of address, the first that fits.
 *
 * Screens get the resource of their address; one that does not exist is answered here.
 */

import type { ComponentType, JSX } from "preact";
import { api, findResource } from "../api";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { href, matchPath, place, places } from "../router";
import { lazy } from "../shell/lazy";
import { Page } from "../shell/page";
import { Empty, LinkButton } from "../ui";
import { ListScreen } from "./list";
import { isQueue } from "./moderation/queue";

export interface ScreenProps {
  /** Parameters of the address. */
  params: Record<string, string>;
}

export interface ResourceScreenProps extends ScreenProps {
  resource: Resource;
  /** Of the record; null for a singleton, and for one that is not created yet. */
  id: string | null;
}

interface Row {
  pattern: string;
  /** Beside the form of the address, such as that the resource is a singleton. */
  when?: (resource: Resource) => boolean;
  show: (params: Record<string, string>, resource: Resource | undefined) => JSX.Element | null;
}

const Dashboard = lazy<ScreenProps>(async () => (await import("./dashboard")).DashboardScreen);
const Assistants = lazy<ScreenProps>(async () => (await import("./assistants")).AssistantsScreen);
const Declarations = lazy<ScreenProps>(async () => (await import("./declarations")).DeclarationsScreen);

const Account = lazy<ScreenProps>(async () => (await import("./account")).AccountScreen);
const Moderation = lazy<ResourceScreenProps>(async () => (await import("./moderation")).ModerationScreen);
const Item = lazy<ResourceScreenProps>(async () => (await import("./item/screens")).ItemOf);
const ChildItem = lazy<ResourceScreenProps>(async () => (await import("./item/screens")).ChildItemOf);
const Revisions = lazy<ResourceScreenProps>(async () => (await import("./item/screens")).RevisionsOf);
const Review = lazy<ResourceScreenProps>(async () => (await import("./review")).ReviewScreen);
const Role = lazy<ResourceScreenProps>(async () => (await import("./role")).RoleScreen);
const Singleton = lazy<ResourceScreenProps>(async () => (await import("./singleton")).SingletonScreen);

const ofResource =
  (Shown: ComponentType<ResourceScreenProps>): Row["show"] =>
  (params, resource) =>
    resource === undefined ? null : <Shown key={`${resource.name}/${params["id"] ?? ""}`} params={params} resource={resource} id={params["id"] ?? null} />;

const isRoles = (resource: Resource): boolean => resource.name === api().description.site.roles;

const ROWS: Row[] = [
  { pattern: "/", show: (params) => <Dashboard params={params} /> },
  { pattern: "/assistants", show: (params) => <Assistants params={params} /> },
  { pattern: "/declarations", show: (params) => <Declarations params={params} /> },
  { pattern: "/account", show: (params) => <Account params={params} /> },
  { pattern: "/r/:resource", when: isQueue, show: ofResource(Moderation) },
  { pattern: "/r/:resource", when: (resource) => resource.key !== null && resource.parent === null, show: ofResource(ListScreen) },
  { pattern: "/r/:resource", when: (resource) => resource.key === null, show: ofResource(Singleton) },
  { pattern: "/r/:resource/new", when: isRoles, show: ofResource(Role) },
  { pattern: "/r/:resource/:id", when: isRoles, show: ofResource(Role) },
  { pattern: "/r/:resource/new", when: (resource) => resource.key !== null && resource.parent === null, show: ofResource(Item) },
  { pattern: "/r/:resource/:id", when: (resource) => resource.name === api().description.site.reviews, show: ofResource(Review) },
  { pattern: "/r/:resource/:id", when: (resource) => resource.key !== null && resource.parent === null, show: ofResource(Item) },
  { pattern: "/r/:resource/:id/revisions", show: ofResource(Revisions) },
  { pattern: "/r/:resource/:id/in/:child", show: ofResource(ListScreen) },
  { pattern: "/r/:resource/:id/in/:child/new", show: ofResource(ChildItem) },
  { pattern: "/r/:resource/:id/in/:child/:item", show: ofResource(ChildItem) },
];

/** The screen of the present address. */
export function Screen(): JSX.Element {
  const { path } = place.value;
  for (const row of ROWS) {
    const params = matchPath(row.pattern, path);
    if (params === null) continue;
    const name = params["resource"];
    const resource = name === undefined ? undefined : findResource(name);
    if (name !== undefined && (resource === undefined || row.when?.(resource) === false)) continue;
    const shown = row.show(params, resource);
    if (shown !== null) return shown;
  }
  return <NotFound />;
}

export function NotFound(): JSX.Element {
  return (
    <Page title={t("shell.not_found")}>
      <Empty title={t("shell.not_found_hint")} icon="help">
        <LinkButton href={href(places.dashboard())}>{t("shell.dashboard")}</LinkButton>
      </Empty>
    </Page>
  );
}
