/** What a part of a screen shows while it loads, when it is empty, and when it failed. */

import type { ComponentChildren, JSX } from "preact";
import { Failure } from "../api/failure";
import { messageOf } from "../api/http";
import { t } from "../i18n";
import { Button } from "./button";
import { Icon } from "./icon";

export function Loading({ label = t("ui.loading") }: { label?: string }): JSX.Element {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <span>{label}</span>
    </div>
  );
}

/** Grey bars in the place of what will come. */
export function Skeleton({ lines = 6 }: { lines?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label={t("ui.loading")}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class="skeleton-line" />
      ))}
    </div>
  );
}

interface EmptyProps {
  title?: string;
  icon?: string;
  /** What can be done about it. */
  children?: ComponentChildren;
}

export function Empty({ title = t("ui.empty"), icon = "archive", children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <Icon name={icon} size={32} />
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** What the server says of single arguments. */
function details(error: unknown): string[] {
  return error instanceof Failure ? [...new Set(Object.values(error.params))].filter((text) => text !== error.message) : [];
}

export function Failed({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }): JSX.Element {
  return (
    <div class="failed" role="alert">
      <Icon name="warning" size={28} />
      <p class="empty-title">{t("ui.failed")}</p>
      <p>{messageOf(error)}</p>
      {details(error).map((detail) => (
        <p key={detail}>{detail}</p>
      ))}
      {onRetry !== undefined && (
        <Button icon="refresh" onClick={onRetry}>
          {t("ui.retry")}
        </Button>
      )}
    </div>
  );
}
