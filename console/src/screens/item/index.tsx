/** Creates and edits a record of any resource. */

import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { api } from "../../api";
import type { Params } from "../../api/adapter";
import type { Resource, State } from "../../api/description";
import { touched } from "../../api/changes";
import { t } from "../../i18n";
import { duplicates } from "../../model/actions";
import { arrange, type GroupId } from "../../model/form-layout";
import { addLabel } from "../../model/naming";
import { autosaveOf, revisionsOf } from "../../model/operations";
import { LINK, PASSWORD, STATE, titleName, titleOf } from "../../model/roles";
import { written, type Step } from "../../model/states";
import { holdsFiles } from "../../files/file";
import { FilePanel } from "../../files/panel";
import { RelatedPanels } from "../../related/related";
import { href, navigate, places } from "../../router";
import { Page, type Crumb } from "../../shell/page";
import { confirmed, Failed, Skeleton, toast, type MenuItem } from "../../ui";
import { Actions } from "../form/actions";
import { FormFrame, useSaving } from "../form/form";
import { ProgressText } from "../form/notices";
import { Once } from "../form/once";
import { PreviewPane } from "../form/pane";
import { GroupBox, Places } from "../form/places";
import { frontPreview, type Preview } from "../form/preview";
import type { Session } from "../form/session";
import { handOver, useSession, type Opened } from "../form/use-session";
import { InvitationChoice, invite, invites } from "./invitation";
import { PresenceBar } from "./presence";
import "../form/form.css";

export interface ItemProps {
  resource: Resource;
  /** Null: a new record. */
  id: string | null;
  /** Parameters of the path of a resource whose records belong to another record. */
  owner?: { params: Params; crumbs: Crumb[]; list: string } | undefined;
}

const NO_PARAMS: Params = {};

export function ItemScreen({ resource, id, owner }: ItemProps): JSX.Element {
  const { state, reload } = useSession(resource, id, owner?.params ?? NO_PARAMS);
  const crumbs = [...(owner?.crumbs ?? []), { label: resource.label, path: owner?.list ?? places.list(resource.name) }];
  if (state.kind === "open") {
    return <Item session={state.session} keeper={state.keeper} crumbs={crumbs} owned={owner !== undefined} />;
  }
  const title = id === null ? addLabel(resource) : resource.singular;
  return (
    <Page title={title} crumbs={crumbs}>
      {state.kind === "loading" ? <Skeleton lines={9} /> : <Failed error={state.error} onRetry={reload} />}
    </Page>
  );
}

function Item({ session, keeper, crumbs, owned }: Opened & { crumbs: Crumb[]; owned: boolean }): JSX.Element {
  const { resource } = session;
  const list = crumbs.at(-1)?.path ?? "/";
  const leave = (): void => {
    const id = session.id.peek();
    if (id !== null) {
      if (!owned) {
        handOver({ session, keeper });
      }
      navigate(owned ? list : places.item(resource.name, id), { replace: !owned, force: true });
    }
  };
  const inviting = useSignal(true);
  const invited = invites(session) && inviting.value;
  const saving = useSaving({ session, keeper }, (outcome) => {
    touched(resource.name);
    if (outcome === "created" && invited) void invite(resource, session.record.peek());
    // Somebody has to see what is shown once, before the address changes.
    if (outcome === "created" && session.once.peek() === null) {
      leave();
    }
  });
  const once = session.once.value;
  const fields = session.fields.value;
  const isNew = session.isNew;
  const arrangement = useMemo(() => {
    const shown = invited ? fields.filter((field) => field.path !== PASSWORD) : fields;
    return arrange(resource, shown, (group: GroupId) => t(`forms.group_${group}`), isNew);
  }, [fields, isNew, invited]);
  const step = (next: Step): void => void saving.run(next);
  const front = useMemo(() => (isNew ? null : frontPreview(session, keeper)), [session, isNew]);
  useEffect(() => front?.start(), [front]);
  const bar = <Bar session={session} keeper={keeper} list={list} front={front} onStep={step} />;
  return (
    <Page title={useTitle(session)} crumbs={crumbs} aside={<StateBadge session={session} />} actions={bar}>
      {!isNew && !owned && <PresenceBar session={session} onLeave={() => navigate(list, { force: true })} />}
      {!isNew && holdsFiles(resource) && <FilePanel resource={resource} item={session.record.value} onReplaced={() => void session.refreshVersion().catch(toast.failed)} />}
      {invites(session) && <InvitationChoice session={session} inviting={inviting} />}
      <div class={`form-beside${front !== null && front.pane.value !== null ? " with-pane" : ""}`}>
        <FormFrame session={session} keeper={keeper} saving={saving} label={resource.singular}>
          <div class={`form-columns${arrangement.side.length === 0 ? " form-single" : ""}`}>
            <div class="form-main">
              <Places places={arrangement.main} store={session.store} scope={saving.scope} />
            </div>
            {arrangement.side.length > 0 && (
              <div class="form-side">
                {arrangement.side.map((group) => (
                  <GroupBox key={group.id} group={group} store={session.store} scope={saving.scope} />
                ))}
              </div>
            )}
          </div>
        </FormFrame>
        {front !== null && <PreviewPane preview={front} name={nameOf(session)} />}
      </div>
      {once !== null && (
        <Once
          secret={once}
          onDone={() => {
            session.once.value = null;
            leave();
          }}
        />
      )}
      {!isNew && !owned && session.id.value !== null && <RelatedPanels resource={resource} item={session.record.value} />}
    </Page>
  );
}

/** The title of the record as it is saved: the heading does not change with every key. */
function useTitle(session: Session): string {
  return session.isNew ? addLabel(session.resource) : nameOf(session);
}

function nameOf({ resource, record, fields }: Session): string {
  const properties = Object.fromEntries(fields.value.map((field) => [field.path, field.schema]));
  const title = titleOf(record.value, titleName(resource, properties));
  return title === "" ? t("forms.untitled_one", { name: resource.singular }) : title;
}

function StateBadge({ session }: { session: Session }): JSX.Element | null {
  const state = session.currentState();
  // What is as visible as what it belongs to has no state of its own to show.
  if (state === null || state.inherits === true) {
    return null;
  }
  return <span class={`badge ${toneOf(state)}`}>{state.label}</span>;
}

function toneOf(state: State): string {
  return state.trash ? "badge-bad" : state.review ? "badge-warn" : state.public ? "badge-good" : state.private ? "badge-calm" : "";
}

function Bar({ session, keeper, list, front, onStep }: Opened & { list: string; front: Preview | null; onStep(step: Step): void }): JSX.Element {
  return (
    <>
      <ProgressText session={session} keeper={keeper} />
      <Actions session={session} onStep={onStep} preview={previewOf(session, keeper)} front={front} restore={restoreOf(session)} more={menuOf(session, list)} />
    </>
  );
}

/** Stores what is written, and shows it as visitors would see it. */
function previewOf(session: Session, keeper: Opened["keeper"]): (() => void) | null {
  if (session.isNew || autosaveOf(session.resource) === null) {
    return null;
  }
  return () => {
    // The window is opened at once: later the browser would take it for an advertisement.
    const shown = open("about:blank", "_blank");
    keeper.autosave(true).then(
      (made) => {
        const link = made?.["preview_link"] ?? made?.["link"] ?? session.record.peek()[LINK];
        if (shown !== null && typeof link === "string" && /^https?:/i.test(link)) {
          shown.opener = null;
          shown.location.href = link;
        } else {
          shown?.close();
        }
      },
      (error: unknown) => {
        shown?.close();
        toast.failed(error);
      },
    );
  };
}

function menuOf(session: Session, list: string): MenuItem[] {
  const { resource } = session;
  const id = session.id.value;
  const items: MenuItem[] = [];
  if (id === null) {
    return items;
  }
  if (revisionsOf(resource) !== null) {
    items.push({ name: "revisions", label: t("forms.revisions"), icon: "clock", href: href(places.part(resource.name, id, "revisions")) });
  }
  if (duplicates(resource)) {
    items.push({ name: "duplicate", label: t("lists.duplicate"), icon: "copy", href: href(`${places.create(resource.name)}?copy=${encodeURIComponent(id)}`) });
  }
  for (const child of api().description.resources.filter((one) => one.parent?.resource === resource.name && one.operations["list"] !== undefined)) {
    items.push({ name: `child-${child.name}`, label: child.label, icon: child.icon, href: href(places.children(resource.name, id, child.name)) });
  }
  if (session.mayDelete()) {
    items.push(...deletion(session, list));
  }
  return items;
}

function deletion(session: Session, list: string): MenuItem[] {
  const states = session.states();
  const bin = states.find((state) => state.trash) ?? null;
  const state = session.currentState();
  const name = session.resource.singular;
  if (bin !== null && state?.trash !== true) {
    return [{ name: "trash", label: t("forms.trash"), icon: "trash", danger: true, separated: true, onSelect: () => void moveToTrash(session, list) }];
  }
  const forever: MenuItem = {
    name: "delete",
    label: t("forms.delete"),
    icon: "trash",
    danger: true,
    separated: bin === null,
    onSelect: () => {
      void confirmed({ title: t("forms.delete_question", { name }), text: t("forms.delete_text"), action: t("forms.delete"), danger: true }).then((yes) => (yes ? removeForever(session, list) : undefined));
    },
  };
  return [forever];
}

/** A record leaves the trash as a draft, or to wait for review: nobody sees it by mistake. */
function restoreOf(session: Session): (() => void) | null {
  const states = session.states();
  const back = states.find((one) => one.draft) ?? states.find((one) => one.review) ?? null;
  const writes = session.resource.operations["update"] !== undefined;
  return session.currentState()?.trash === true && back !== null && writes ? () => void untrash(session, written(back)) : null;
}

async function moveToTrash(session: Session, list: string): Promise<void> {
  const { resource, api: services, loaded } = session;
  const id = session.id.peek() ?? "";
  const before = session.record.peek()[STATE];
  try {
    await services.adapter.remove(resource, id, { params: loaded.params });
    touched(resource.name);
    toast.done(t("forms.trashed", { name: nameOf(session) }), {
      label: t("ui.undo"),
      run: () => {
        services.adapter.update(resource, id, { [STATE]: before }, { params: loaded.params }).then(() => touched(resource.name), toast.failed);
      },
    });
    navigate(list, { force: true });
  } catch (error) {
    toast.failed(error);
  }
}

async function removeForever(session: Session, list: string): Promise<void> {
  const { resource, api: services, loaded } = session;
  const name = nameOf(session);
  const force = resource.operations["delete"]?.args.includes("force") === true;
  try {
    await services.adapter.remove(resource, session.id.peek() ?? "", { params: loaded.params, query: force ? { force: true } : {} });
    // There is nothing left to keep.
    session.store.reset();
    touched(resource.name);
    toast.done(t("forms.deleted", { name }));
    navigate(list, { force: true });
  } catch (error) {
    toast.failed(error);
  }
}

async function untrash(session: Session, state: string): Promise<void> {
  try {
    await session.take(await session.api.adapter.update(session.resource, session.id.peek(), { [STATE]: state }, { params: session.loaded.params, ifMatch: session.version }), null);
    touched(session.resource.name);
    toast.done(t("forms.restored"));
  } catch (error) {
    toast.failed(error);
  }
}
