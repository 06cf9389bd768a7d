/** Tabs with panels (roving focus, arrow keys). Tabs that lead to addresses are links in a `nav`: see `NavTabs`. */

import type { ComponentChildren, JSX } from "preact";
import { useId, useRef } from "preact/hooks";

export interface Tab {
  name: string;
  label: ComponentChildren;
  panel: () => ComponentChildren;
}

interface TabsProps {
  label: string;
  tabs: Tab[];
  current: string;
  onChange: (name: string) => void;
}

export function Tabs({ label, tabs, current, onChange }: TabsProps): JSX.Element {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const chosen = tabs.find((tab) => tab.name === current) ?? tabs[0];
  const move = (event: KeyboardEvent): void => {
    const place = tabs.findIndex((tab) => tab === chosen);
    const rtl = list.current !== null && getComputedStyle(list.current).direction === "rtl";
    const steps: Record<string, number> = {
      ArrowRight: rtl ? -1 : 1,
      ArrowLeft: rtl ? 1 : -1,
      Home: -place,
      End: tabs.length - 1 - place,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = tabs[(place + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChange(next.name);
    list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.name)}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div ref={list} class="tabs-list" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            class="tab"
            id={`${id}-${tab.name}`}
            data-tab={tab.name}
            aria-selected={tab === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => onChange(tab.name)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen?.name ?? ""}`} tabIndex={0} class="tab-panel">
        {chosen?.panel()}
      </div>
    </div>
  );
}

interface NavTabsProps {
  label: string;
  tabs: { name: string; label: string; count?: string | undefined; href: string }[];
  current: string;
}

/** Tabs that are places: each has an address. */
export function NavTabs({ label, tabs, current }: NavTabsProps): JSX.Element {
  return (
    <nav class="tabs-list" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.name} class="tab" href={tab.href} aria-current={tab.name === current ? "page" : undefined}>
          {tab.label}
          {tab.count !== undefined && <span class="tab-count">{tab.count}</span>}
        </a>
      ))}
    </nav>
  );
}
