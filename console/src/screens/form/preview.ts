/**
 * What is being written, as the front end shows it: in a window of its own, and in a pane beside the form. Both get a
 * message about every change, for the front end's origin alone.
 */

import { signal, type Signal } from "@preact/signals";
import { isObject } from "../../api/failure";
import { t } from "../../i18n";
import { parametersOf, previewLinkOf } from "../../model/operations";
import { toast } from "../../ui";
import type { Keeper } from "./keeper";
import type { Session } from "./session";

/** The server has the record in a newer form. */
export const CHANGED = "cms-server:changed";
/** The page in the pane reads the record again by itself, and is not loaded again. */
export const REFRESHES = "cms-server:refreshes";

/** The share of its life after which a link is replaced by a new one. */
const USED = 0.9;

interface Link {
  address: string;
  /** When it is replaced, in milliseconds since 1970, on the clock of this browser. */
  until: number;
}

/** The newest window that shows a preview; it gets messages about changes after its form was left and opened again, too. */
let opened: { record: string; window: Window } | null = null;

/** The previews of a record; null where the front end has none. */
export function frontPreview(session: Session, keeper: Keeper): Preview | null {
  const origin = session.api.description.site.preview_origin ?? null;
  return origin === null || previewLinkOf(session.resource) === null ? null : new Preview(session, keeper, origin);
}

export class Preview {
  /** What the pane shows; null: it is closed. */
  readonly pane: Signal<Link | null> = signal(null);
  /** The pane was asked for, and waits for its link. */
  readonly busy: Signal<boolean> = signal(false);
  private frame: HTMLIFrameElement | null = null;
  /** The frame shows a page of the front end. */
  private filled = false;
  private refreshes = false;

  constructor(
    private readonly session: Session,
    private readonly keeper: Keeper,
    private readonly origin: string,
  ) {}

  /** Begins to tell of changes; returns what ends it. */
  start(): () => void {
    const before = this.keeper.stored.peek();
    const stop = this.keeper.stored.subscribe((count) => count !== before && this.tell());
    const hear = (event: MessageEvent): void => this.hear(event);
    addEventListener("message", hear);
    return () => {
      stop();
      removeEventListener("message", hear);
      this.close();
    };
  }

  /** Opens a window. It has to be called by the click itself: later the browser would take the window for an advertisement. */
  async show(): Promise<void> {
    const shown = open("about:blank", "_blank");
    if (shown === null) {
      toast.problem(t("forms.preview_blocked"));
      return;
    }
    // Before anything is loaded there: the front end never has a hold of this window.
    shown.opener = null;
    try {
      const { address } = await this.link();
      shown.location.replace(address);
      opened = { record: this.record(), window: shown };
    } catch (error) {
      shown.close();
      toast.failed(error);
    }
  }

  async openPane(): Promise<void> {
    if (this.busy.peek()) {
      return;
    }
    this.busy.value = true;
    try {
      const link = await this.link();
      // The form may have been left in the meantime.
      if (this.busy.peek()) {
        this.pane.value = link;
        this.keeper.follow(true);
      }
    } catch (error) {
      toast.failed(error);
    } finally {
      this.busy.value = false;
    }
  }

  close(): void {
    this.keeper.follow(false);
    this.busy.value = false;
    this.pane.value = null;
  }

  /** The frame of the pane; null: it is gone. */
  readonly attach = (frame: HTMLIFrameElement | null): void => {
    this.frame = frame;
    this.filled = false;
    this.refreshes = false;
  };

  readonly loaded = (): void => {
    this.filled = true;
  };

  /** Loads the pane again. */
  async reload(): Promise<void> {
    const link = this.pane.peek();
    if (link === null) {
      return;
    }
    if (isUsed(link)) {
      const next = await this.link().catch(() => link);
      // Another address is another frame.
      if (this.pane.peek() === link) this.pane.value = next;
      return;
    }
    this.refreshes = false;
    // A new `src` would be one more step of the way back.
    this.frame?.contentWindow?.location.replace(link.address);
  }

  /** A new link to what is being written. */
  private async link(): Promise<Link> {
    const { session } = this;
    await this.keeper.catchUp();
    const name = previewLinkOf(session.resource) ?? "";
    const id = session.id.peek();
    const { data } = await session.api.adapter.call<unknown>(session.resource, name, { id, params: parametersOf(session.resource, name, id ?? ""), body: {} });
    const made = isObject(data) ? data : {};
    const address = String(made["address"] ?? "");
    if (!URL.canParse(address) || new URL(address).origin !== this.origin) {
      throw new Error(t("forms.preview_elsewhere"));
    }
    // The clock of the server may be another one.
    const lasts = Date.parse(String(made["expires"])) - Date.parse(String(made["created"]));
    return { address, until: Date.now() + lasts * USED };
  }

  private record(): string {
    return `${this.session.resource.name}/${this.session.id.peek() ?? ""}`;
  }

  private tell(): void {
    const message = { type: CHANGED, id: this.session.record.peek()[this.session.resource.key ?? "id"] };
    const shown = opened?.record === this.record() ? opened.window : null;
    for (const target of [this.filled ? this.frame?.contentWindow : null, shown]) {
      target?.postMessage(message, this.origin);
    }
    const link = this.pane.peek();
    if (link !== null && (!this.refreshes || isUsed(link))) {
      void this.reload();
    }
  }

  private hear(event: MessageEvent): void {
    const page = this.frame?.contentWindow;
    if (page !== null && page !== undefined && event.source === page && event.origin === this.origin && isObject(event.data) && event.data["type"] === REFRESHES) {
      this.refreshes = true;
    }
  }
}

function isUsed(link: Link): boolean {
  return link.until < Date.now();
}
