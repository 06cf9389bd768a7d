/** The frame of a screen: path, heading, actions. It takes the focus when somebody comes from another screen. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { api } from "../api";
import { t } from "../i18n";
import { href, place } from "../router";
import { Icon } from "../ui";

export interface Crumb {
  label: string;
  path: string;
}

interface PageProps {
  title: string;
  /** Places above this one, the highest first. */
  crumbs?: Crumb[] | undefined;
  actions?: ComponentChildren;
  /** Beside the heading, such as a state. */
  aside?: ComponentChildren;
  children?: ComponentChildren;
  /** "narrow" for forms and texts. */
  width?: "full" | "narrow" | undefined;
}

/** The path that the focus was last moved for; null: nobody has gone anywhere yet. */
let arrived: string | null = null;

/** Moves the focus to the heading of a screen that somebody has gone to, and again when the screen has replaced its skeleton. */
function arrive(heading: HTMLElement | null): void {
  const { path } = place.peek();
  // The first screen leaves the focus where the browser puts it.
  const went = arrived !== null && (arrived !== path || moved);
  moved = went;
  if (went && (arrived !== path || document.activeElement === document.body)) heading?.focus({ preventScroll: true });
  arrived = path;
}

let moved = false;

export function Page({ title, crumbs = [], actions, aside, children, width = "full" }: PageProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – ${api().description.site.title}`;
  }, [title]);
  useEffect(() => arrive(heading.current), []);
  return (
    <div class={`page page-${width}`}>
      <header class="page-head">
        <div class="page-titles">
          {crumbs.length > 0 && (
            <nav class="crumbs" aria-label={t("shell.path")}>
              <ol class="crumbs-list">
                {crumbs.map((crumb) => (
                  <li key={crumb.path}>
                    <a href={href(crumb.path)}>{crumb.label}</a>
                    <Icon name="chevron-right" size={14} />
                  </li>
                ))}
              </ol>
            </nav>
          )}
          <div class="row">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {aside}
          </div>
        </div>
        {actions !== undefined && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
