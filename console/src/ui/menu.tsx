/** A button that opens a menu of actions. */

import * as zag from "@zag-js/menu";
import { normalizeProps, useMachine } from "@zag-js/preact";
import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { Icon } from "./icon";

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

interface MenuProps extends ButtonLook {
  items: MenuItem[];
  /** Where the menu lines up with the button. */
  placement?: "bottom-start" | "bottom-end" | "top-start" | "top-end" | undefined;
  open?: boolean | undefined;
}

/** A menu whose parts are made when it is first opened: for lists with one in each row. */
export function LazyMenu({ items, ...look }: ButtonLook & { items: () => MenuItem[] }): JSX.Element {
  const [used, setUsed] = useState(false);
  if (used) return <Menu {...look} items={items()} open />;
  return (
    <button type="button" {...lookOf(look)} aria-haspopup="menu" aria-expanded={false} onClick={() => setUsed(true)}>
      <Face {...look} />
    </button>
  );
}

export function Menu({ items, placement = "bottom-end", open = false, ...look }: MenuProps): JSX.Element {
  const service = useMachine(zag.machine, {
    id: useId(),
    "aria-label": look.label,
    defaultOpen: open,
    positioning: { placement, gutter: 4, strategy: "fixed" },
    onSelect: ({ value }: { value: string }) => items.find((item) => item.name === value)?.onSelect?.(),
  });
  const menu = zag.connect(service, normalizeProps);
  return (
    <>
      <button {...menu.getTriggerProps()} type="button" {...lookOf(look)}>
        <Face {...look} />
      </button>
      {menu.open && (
        <div {...menu.getPositionerProps()} class="popup-place">
          <div {...menu.getContentProps()} class="popup menu">
            {items.map((item) => (
              <Entry key={item.name} item={item} menu={menu} />
            ))}
          </div>
        </div>
      )}
    </>
  );
}

function Face({ icon, small, children }: ButtonLook): JSX.Element {
  return (
    <>
      {icon !== undefined && <Icon name={icon} size={small === true ? 16 : 18} />}
      {children}
    </>
  );
}

function lookOf({ label, kind = "quiet", small, disabled, children }: ButtonLook): { class: string; "aria-label": string | undefined; title: string; disabled: boolean } {
  const bare = children === undefined;
  const names = ["button", `button-${kind}`, small === true && "button-small", bare && "button-icon"].filter(Boolean).join(" ");
  return { class: names, "aria-label": bare ? label : undefined, title: label, disabled: disabled === true };
}

function Entry({ item, menu }: { item: MenuItem; menu: zag.Api }): JSX.Element {
  const content = (
    <>
      {item.icon !== undefined && <Icon name={item.icon} size={16} />}
      <span class="menu-text">{item.label}</span>
      {item.checked === true && <Icon name="check" size={16} />}
    </>
  );
  const common = {
    ...menu.getItemProps({ value: item.name, disabled: item.disabled === true }),
    class: `menu-item${item.danger === true ? " menu-danger" : ""}${item.separated === true ? " menu-separated" : ""}`,
  };
  const choice = item.checked === undefined ? {} : { role: "menuitemradio" as const, "aria-checked": item.checked };
  if (item.href !== undefined) {
    return (
      <a {...(common as object)} href={item.href}>
        {content}
      </a>
    );
  }
  return (
    <div {...(common as object)} {...choice}>
      {content}
    </div>
  );
}
