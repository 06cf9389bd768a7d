/** Details of the block that the cursor is in. */

import type { JSX } from "preact";
import { setAttrs } from "./commands";
import { kindOf, nameOf } from "./kind";
import type { Session } from "./session";
import type { EditorProps } from "./types";

export function Panel({ session, props }: { session: Session; props: EditorProps }): JSX.Element | null {
  const node = session.panel.value;
  const pos = session.status.value?.panel?.pos;
  const Details = node === null ? undefined : kindOf(node).Details;
  if (node === null || pos === undefined || Details === undefined) return null;
  return (
    <div class="editor-panel" role="group" aria-label={nameOf(node)} key={`${node.type.name}-${pos}`}>
      <strong class="editor-panel-name">{nameOf(node)}</strong>
      <Details node={node} pos={pos} set={(attrs) => attrs !== null && setAttrs(pos, attrs)(session.view.state, session.view.dispatch)} session={session} props={props} />
    </div>
  );
}
