/** A menu that somebody has opened: its keys, its focus and its place. */

import * as zag from "@zag-js/menu";
import { normalizeProps, useMachine } from "@zag-js/preact";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "./icon";
import { Face, lookOf, type MenuItem, type MenuProps } from "./menu";

export function OpenMenu({ items: given, placement = "bottom-end", ...look }: MenuProps): JSX.Element {
  const items = typeof given === "function" ? given() : given;
  const service = useMachine(zag.machine, {
    id: useId(),
    "aria-label": look.label,
    defaultOpen: true,
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
