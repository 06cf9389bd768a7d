/** The list of insertions at the cursor. The focus stays in the text: the arrow keys choose, Enter takes. */

import type { JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../i18n";
import { Icon } from "../ui";
import { type Insertion, insertions } from "./insert";
import type { Session } from "./session";
import { matching } from "./slash";
import type { EditorProps } from "./types";

export function SlashList({ session, props, frame }: { session: Session; props: EditorProps; frame: HTMLElement }): JSX.Element | null {
  const slash = session.slash.value;
  const id = useId();
  const element = useRef<HTMLUListElement>(null);
  const found = slash === null ? [] : matching(insertions(session, props), slash.query);
  const active = slash === null ? 0 : Math.min(slash.active, found.length - 1);

  useEffect(() => {
    session.slashKey = slash === null ? null : (event) => take(session, found, active, event);
    const text = session.view.dom;
    if (slash === null || found.length === 0) {
      text.removeAttribute("aria-activedescendant");
      text.removeAttribute("aria-controls");
    } else {
      text.setAttribute("aria-controls", id);
      text.setAttribute("aria-activedescendant", `${id}-${active}`);
    }
  });

  useLayoutEffect(() => {
    const list = element.current;
    if (list === null || slash === null) return;
    const at = session.view.coordsAtPos(slash.at);
    const around = frame.getBoundingClientRect();
    const below = at.bottom + list.offsetHeight + 8 < window.innerHeight || at.top < list.offsetHeight;
    list.style.insetBlockStart = `${(below ? at.bottom + 4 : at.top - list.offsetHeight - 4) - around.top}px`;
    list.style.left = `${Math.max(0, Math.min(at.left - around.left, around.width - list.offsetWidth))}px`;
    list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });

  if (slash === null) return null;
  return (
    <ul ref={element} id={id} class="popup editor-slash" role="listbox" tabIndex={0} aria-label={t("editor.insert_block")}>
      {found.map((one, index) => (
        <li
          key={one.name}
          id={`${id}-${index}`}
          class="listbox-item"
          role="option"
          aria-selected={index === active}
          data-highlighted={index === active ? "" : undefined}
          onMouseDown={(event) => {
            event.preventDefault();
            choose(session, one);
          }}
        >
          <Icon name={one.icon} size={16} />
          <span>{one.label}</span>
        </li>
      ))}
      {found.length === 0 && (
        <li class="listbox-note" role="option" aria-selected="false" aria-disabled="true">
          {t("editor.no_results")}
        </li>
      )}
    </ul>
  );
}

function take(session: Session, found: Insertion[], active: number, event: KeyboardEvent): boolean {
  const slash = session.slash.value;
  if (slash === null || event.isComposing) return false;
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (move !== undefined && found.length > 0) {
    session.slash.value = { ...slash, active: (active + move + found.length) % found.length };
    return true;
  }
  if (event.key === "Escape" || event.key === "Tab") {
    session.slash.value = null;
    return event.key === "Escape";
  }
  const chosen = found[active];
  if (event.key !== "Enter" || chosen === undefined) return false;
  choose(session, chosen);
  return true;
}

/** Takes what was typed away, and inserts. */
function choose(session: Session, chosen: Insertion): void {
  const slash = session.slash.value;
  session.slash.value = null;
  const { state } = session.view;
  if (slash !== null && slash.from !== null) session.view.dispatch(state.tr.delete(slash.from, state.selection.from));
  chosen.run();
}
