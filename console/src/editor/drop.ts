/**
 * What is dropped into the text from elsewhere: files and markup. Moves within the editor are ProseMirror's.
 */
import { TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { clean } from "./clean";
import { sliceOf } from "./clipboard";
import { escapedText } from "./html";
import type { EditorProps } from "./types";
import { upload } from "./uploads";

/** Whether a drop was taken. */
export function dropped(view: EditorView, event: DragEvent, moved: boolean, props: EditorProps): boolean {
  if (moved || view.dragging !== null || event.dataTransfer === null) return false;
  const place = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos;
  if (place === undefined) return true;
  const files = Array.from(event.dataTransfer.files);
  event.preventDefault();
  if (files.length > 0) {
    upload(view, files, place, props);
    return true;
  }
  const html = event.dataTransfer.getData("text/html");
  const text = event.dataTransfer.getData("text/plain");
  const markup = html === "" ? `<p>${escapedText(text)}</p>` : clean(html);
  if (markup === "" || text + html === "") return true;
  const slice = sliceOf(markup, view.state.doc.attrs["classic"] === true);
  const at = TextSelection.near(view.state.doc.resolve(place));
  view.dispatch(view.state.tr.setSelection(at).replaceSelection(slice).scrollIntoView());
  view.focus();
  return true;
}
