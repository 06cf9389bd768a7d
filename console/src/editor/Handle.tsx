/**
 * The handle beside a block: drag the block by it, or click to select the block.
 *
 * It is for pointers alone: the toolbar and keys do the same for everybody.
 */

import { NodeSelection } from "prosemirror-state";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { Icon } from "../ui";
import { placeAt } from "./commands";
import type { Session } from "./session";

interface At {
  pos: number;
  top: number;
}

export function Handle({ session, frame }: { session: Session; frame: HTMLElement }): JSX.Element | null {
  const [at, setAt] = useState<At | null>(null);
  const element = useRef<HTMLDivElement>(null);
  session.status.value;

  useEffect(() => {
    let pending = 0;
    const follow = (event: PointerEvent) => {
      if (pending !== 0 || event.buttons !== 0 || element.current?.contains(event.target as Node) === true) return;
      pending = requestAnimationFrame(() => {
        pending = 0;
        const found = blockAt(session, frame, event.clientY);
        if (found !== null) setAt(found);
      });
    };
    frame.addEventListener("pointermove", follow);
    return () => {
      frame.removeEventListener("pointermove", follow);
      cancelAnimationFrame(pending);
    };
  }, [session, frame]);

  useEffect(() => {
    if (element.current !== null && at !== null) element.current.style.insetBlockStart = `${at.top}px`;
  });

  if (at === null || !session.view.editable || placeAt(session.view.state.doc, Math.min(at.pos, session.view.state.doc.content.size)) === null) return null;
  const select = () => {
    const { state } = session.view;
    if (state.doc.nodeAt(at.pos) !== null) session.view.dispatch(state.tr.setSelection(NodeSelection.create(state.doc, at.pos)));
  };
  return (
    <div
      ref={element}
      class="editor-handle"
      draggable
      aria-hidden="true"
      title={t("editor.block_drag")}
      onClick={() => {
        select();
        session.view.focus();
      }}
      onDragStart={(event) => {
        select();
        const { state } = session.view;
        if (!(state.selection instanceof NodeSelection) || event.dataTransfer === null) return event.preventDefault();
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData("text/plain", state.selection.node.textContent);
        const dom = session.view.nodeDOM(at.pos);
        if (dom instanceof HTMLElement) event.dataTransfer.setDragImage(dom, 0, 0);
        session.view.dragging = { slice: state.selection.content(), move: true };
      }}
      onDragEnd={() => {
        session.view.dragging = null;
      }}
    >
      <Icon name="drag" size={18} />
    </div>
  );
}

/** The outermost block at a height. */
function blockAt(session: Session, frame: HTMLElement, y: number): At | null {
  const around = frame.getBoundingClientRect();
  let found: At | null = null;
  session.view.state.doc.forEach((_, pos) => {
    const dom = session.view.nodeDOM(pos);
    if (!(dom instanceof HTMLElement)) return;
    const box = dom.getBoundingClientRect();
    if (box.top - 6 <= y && y <= box.bottom + 6) found = { pos, top: box.top - around.top };
  });
  return found;
}
