/** Buttons, and links that look like them. */

import type { ComponentChildren, JSX } from "preact";
import { Icon } from "./icon";

interface Look {
  /** "primary" for the one main action of a screen, "quiet" without a frame, "danger" for what cannot be undone. */
  kind?: "normal" | "primary" | "quiet" | "danger" | undefined;
  icon?: string | undefined;
  /** Name for assistive technology, and tooltip, of a button without a text. */
  label?: string | undefined;
  small?: boolean | undefined;
  children?: ComponentChildren;
}

type ButtonProps = Look & Omit<JSX.IntrinsicElements["button"], "icon" | "label" | "size"> & { busy?: boolean | undefined };

export function Button({ kind = "normal", icon, label, small, busy, children, class: more, ...rest }: ButtonProps): JSX.Element {
  return (
    <button
      type="button"
      class={classes(kind, small, children, more)}
      aria-label={label}
      title={label}
      aria-busy={busy === true ? "true" : undefined}
      {...rest}
      disabled={busy === true ? true : rest.disabled}
    >
      {icon !== undefined && <Icon name={icon} size={small === true ? 16 : 18} />}
      {children}
    </button>
  );
}

interface LinkProps extends Look {
  href: string;
  class?: string | undefined;
  target?: string | undefined;
  rel?: string | undefined;
  download?: string | boolean | undefined;
  onClick?: ((event: MouseEvent) => void) | undefined;
}

export function LinkButton({ kind = "normal", icon, label, small, children, class: more, href, ...rest }: LinkProps): JSX.Element {
  return (
    <a href={href} class={classes(kind, small, children, more)} aria-label={label} title={label} {...(rest as object)}>
      {icon !== undefined && <Icon name={icon} size={small === true ? 16 : 18} />}
      {children}
    </a>
  );
}

function classes(kind: string, small: boolean | undefined, children: ComponentChildren, more: unknown): string {
  const bare = children === undefined || children === null || children === false;
  return ["button", `button-${kind}`, small === true && "button-small", bare && "button-icon", typeof more === "string" && more]
    .filter((name) => typeof name === "string")
    .join(" ");
}
