/** A button that opens a menu of actions. What moves within an open menu is loaded when it is first wanted. */

import type { ComponentChildren, ComponentType, JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./icon";
import { toast } from "./toast";

export interface MenuItem {
  name: string;
  label: string;
  icon?: string | undefined;
  danger?: boolean | undefined;
  disabled?: boolean | undefined;
  /** The present choice among several. */
  checked?: boolean | undefined;
  /** A line above it. */
  separated?: boolean | undefined;
  /** A place of the console or elsewhere; without it `onSelect` is called. */
  href?: string | undefined;
  onSelect?: (() => void) | undefined;
}

interface ButtonLook {
  /** Name of the button for assistive technology; its tooltip when it has no text. */
  label: string;
  icon?: string | undefined;
  kind?: "normal" | "primary" | "quiet" | undefined;
  small?: boolean | undefined;
  disabled?: boolean | undefined;
  children?: ComponentChildren;
}

export interface MenuProps extends ButtonLook {
  /** A function: they are made when the menu is opened, for lists with a menu in each row. */
  items: MenuItem[] | (() => MenuItem[]);
  /** Where the menu lines up with the button. */
  placement?: "bottom-start" | "bottom-end" | "top-start" | "top-end" | undefined;
}

/** The component that is open, once it is loaded. */
let machine: ComponentType<MenuProps> | null = null;

async function load(): Promise<ComponentType<MenuProps>> {
  machine = (await import("./open-menu")).OpenMenu;
  return machine;
}

/** Before somebody presses it. */
function prepare(): void {
  // A failure shows when it is pressed.
  if (machine === null) load().catch(() => undefined);
}

export function Menu(props: MenuProps): JSX.Element {
  const [used, setUsed] = useState(false);
  if (used && machine !== null) {
    const Machine = machine;
    return <Machine {...props} />;
  }
  const open = (): void => {
    if (machine === null) load().then(() => setUsed(true), toast.failed);
    else setUsed(true);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    open();
  };
  return (
    <button
      type="button"
      {...lookOf(props)}
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={prepare}
      onFocus={prepare}
      onClick={open}
      onKeyDown={pressed}
    >
      <Face {...props} />
    </button>
  );
}

export function Face({ icon, small, children }: ButtonLook): JSX.Element {
  return (
    <>
      {icon !== undefined && <Icon name={icon} size={small === true ? 16 : 18} />}
      {children}
    </>
  );
}

export function lookOf({ label, kind = "quiet", small, disabled, children }: ButtonLook): { class: string; "aria-label": string | undefined; title: string; disabled: boolean } {
  const bare = children === undefined;
  const names = ["button", `button-${kind}`, small === true && "button-small", bare && "button-icon"].filter(Boolean).join(" ");
  return { class: names, "aria-label": bare ? label : undefined, title: label, disabled: disabled === true };
}
