/** The navigation: groups and resources of the description. */

import type { JSX } from "preact";
import { api } from "../api";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { href, place, places } from "../router";
import { Icon } from "../ui";
import { findings } from "./insight";

/** Whether a resource has a place of its own in the navigation. */
export function hasPlace(resource: Resource): boolean {
  if (resource.parent !== null || resource.group === "") return false;
  return resource.key === null ? resource.operations["get"] !== undefined : resource.operations["list"] !== undefined;
}

export function Navigation({ onFollow }: { onFollow?: () => void }): JSX.Element {
  const { description, http } = api();
  const shown = description.resources.filter(hasPlace);
  const here = place.value.path;
  const current = (path: string): "page" | undefined => (here === path || here.startsWith(`${path}/`) ? "page" : undefined);
  const groups = description.groups
    .map((group) => ({ ...group, resources: shown.filter((resource) => resource.group === group.name) }))
    .filter((group) => group.resources.length > 0);
  const lost = shown.filter((resource) => !description.groups.some((group) => group.name === resource.group));
  if (lost.length > 0) groups.push({ name: "", label: t("shell.other"), resources: lost });
  return (
    <nav class="nav" aria-label={t("shell.navigation")} onClick={(event) => event.target instanceof Element && event.target.closest("a") !== null && onFollow?.()}>
      <ul class="nav-list">
        <Entry path={places.dashboard()} icon="dashboard" label={t("shell.dashboard")} current={here === "/" ? "page" : undefined} />
      </ul>
      {groups.map((group) => (
        <div key={group.name} role="group" aria-labelledby={`nav-${group.name}`}>
          <h2 id={`nav-${group.name}`} class="nav-group">
            {group.label}
          </h2>
          <ul class="nav-list">
            {group.resources.map((resource) => (
              <Entry
                key={resource.name}
                path={places.list(resource.name)}
                icon={resource.icon}
                label={resource.label}
                current={current(places.list(resource.name))}
              />
            ))}
          </ul>
        </div>
      ))}
      <ul class="nav-list nav-last">
        {description.site.assistants === true && (
          <Entry path={places.assistants()} icon="key" label={t("assistants.title")} current={current(places.assistants())} />
        )}
        {findings.value !== null && (
          <Entry path={places.declarations()} icon="code" label={t("shell.declarations")} current={current(places.declarations())} />
        )}
        {http.boot.explorer_url !== null && (
          <li>
            <a class="nav-link" href={http.boot.explorer_url} target="_blank" rel="noopener">
              <Icon name="external" />
              {t("shell.explorer")}
            </a>
          </li>
        )}
      </ul>
    </nav>
  );
}

function Entry(props: { path: string; icon: string; label: string; current: "page" | undefined }): JSX.Element {
  return (
    <li>
      <a class="nav-link" href={href(props.path)} aria-current={props.current}>
        <Icon name={props.icon} />
        {props.label}
      </a>
    </li>
  );
}
