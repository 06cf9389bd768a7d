/** What the controls of a form may ask of it. */

import type { FormScope } from "../../controls/types";
import { UNFILTERED } from "../../model/permissions";
import type { Session } from "./session";

export function scopeOf(session: Session): FormScope {
  const { api, store, resource } = session;
  const limits = session.loaded.links.some((link) => link.rel.endsWith(`action-${UNFILTERED}`));
  return {
    description: api.description,
    adapter: api.adapter,
    schemas: api.schemas,
    resource,
    get id() {
      return session.id.value;
    },
    read: (path) => store.cell(path).value,
    record: () => session.record.value,
    error: (at) => store.errors.value[at],
    setBroken: (at, message) => store.setBroken(at, message),
    onFlush: (flush) => store.onFlush(flush),
    states: session.states(),
    barred: (path) => session.permissions.value.barred[path] ?? [],
    get unfilteredHtml() {
      return !limits || session.permissions.value.actions.has(UNFILTERED);
    },
  };
}
