/** Around the list of a resource of files: they are dropped and pasted on it, and one is shown beside it. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Id, Params } from "../api/adapter";
import type { Resource } from "../api/description";
import { href, navigate, place } from "../router";
import { lazy } from "../shell/lazy";
import { ChooseButton, DropArea } from "./drop";
import { holdsFiles } from "./file";
import { openedIn, withOpened } from "./open";
import { queueOf } from "./uploads";

const FileSide = lazy(async () => (await import("./side")).FileSide);

/** New records of the resource are sent as files. */
export function sendsFiles(resource: Resource): boolean {
  return resource.operations["create"]?.file === true;
}

/** The place of a file beside the list that is shown; null: its records have only the screen of the item. */
export function pathBeside(resource: Resource, id: Id): string | null {
  return holdsFiles(resource) && resource.parent === null ? here(id) : null;
}

function here(id: Id | null): string {
  const { path, search } = place.value;
  const query = withOpened(search, id);
  return query === "" ? path : `${path}?${query}`;
}

interface AreaProps {
  resource: Resource;
  params: Params;
  /** The records that are listed. */
  ids: Id[];
  children: ComponentChildren;
}

export function FileArea({ resource, params, ids, children }: AreaProps): JSX.Element {
  const opened = holdsFiles(resource) ? openedIn(place.value.search) : null;
  const list = useRef<HTMLDivElement>(null);
  useFocusBack(opened, list);
  const at = ids.findIndex((id) => String(id) === opened);
  const beside = (step: number): Id | null => (at < 0 ? null : (ids[at + step] ?? null));
  const show = (id: Id | null): void => void navigate(here(id), { replace: opened !== null && id !== null });
  const shown = (
    <div class="with-side" data-side={opened !== null}>
      <div ref={list}>{children}</div>
      {opened !== null && <FileSide resource={resource} id={opened} onClose={() => show(null)} onShow={show} previous={beside(-1)} next={beside(1)} />}
    </div>
  );
  if (!sendsFiles(resource)) return shown;
  return (
    <DropArea paste onFiles={(files) => void queueOf(resource, params).add(files)}>
      {shown}
    </DropArea>
  );
}

/** Closing gives the focus back to the file in the list. */
function useFocusBack(opened: string | null, list: { current: HTMLElement | null }): void {
  const last = useRef(opened);
  useEffect(() => {
    const before = last.current;
    last.current = opened;
    if (before === null || opened !== null) return;
    const link = [...(list.current?.querySelectorAll<HTMLAnchorElement>("a.row-title") ?? [])].find((one) => one.href.endsWith(href(here(before))));
    link?.focus();
  }, [opened]);
}

export function UploadButton({ resource, params }: { resource: Resource; params: Params }): JSX.Element {
  return <ChooseButton kind="primary" onFiles={(files) => void queueOf(resource, params).add(files)} />;
}
