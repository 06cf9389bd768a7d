/** How somebody whose account is new gets in: by an invitation with a link to set a password, or by a password from here. */

import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { api } from "../../api";
import { idOf, type Item } from "../../api/adapter";
import type { Resource } from "../../api/description";
import { newPassword } from "../../controls/password";
import { t } from "../../i18n";
import { labelOf } from "../../model/record";
import { PASSWORD } from "../../model/roles";
import { toast } from "../../ui";
import type { Session } from "../form/session";

const INVITE = "invite";

/** Whether accounts can be made without a password: their owners are invited to set one. */
export function invites({ resource, isNew, fields }: Session): boolean {
  return isNew && resource.operations[INVITE] !== undefined && fields.value.some((field) => field.path === PASSWORD && !field.readOnly);
}

export function InvitationChoice({ session, inviting }: { session: Session; inviting: Signal<boolean> }): JSX.Element {
  const { store } = session;
  // Nobody learns this password: the link of the invitation sets another one.
  const choose = (way: boolean): void => {
    inviting.value = way;
    store.set(PASSWORD, way ? newPassword() : "");
  };
  const unset = inviting.value && store.dirty.value && (store.cell(PASSWORD).value ?? "") === "";
  useEffect(() => {
    if (unset) store.set(PASSWORD, newPassword());
  }, [unset]);
  return (
    <div class="notice stack-tight" role="radiogroup" aria-label={t("people.way_in")}>
      {[true, false].map((way) => (
        <label key={String(way)} class="check">
          <input type="radio" name="way-in" checked={inviting.value === way} onChange={() => choose(way)} />
          {t(way ? "people.way_invitation" : "people.way_password")}
        </label>
      ))}
    </div>
  );
}

export async function invite(resource: Resource, item: Item): Promise<void> {
  try {
    await api().adapter.call(resource, INVITE, { id: idOf(resource, item), body: {} });
    toast.done(t("people.did_invite", { name: labelOf(resource, item, (id) => `${resource.singular} ${id}`) }));
  } catch (error) {
    toast.failed(error);
  }
}
