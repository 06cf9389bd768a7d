/**
 * A text in a text area and back.
 *
 * A text area turns every line end into "\n". What a person did not touch keeps its own line ends.
 */

/** The text as a text area shows it. */
export function shown(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** `before`, changed so that a text area shows `after`: the common beginning and end of both stay as they are. */
export function applied(before: string, after: string): string {
  const old = shown(before);
  if (old === after) return before;
  const least = Math.min(old.length, after.length);
  let head = 0;
  while (head < least && old[head] === after[head]) head++;
  let tail = 0;
  while (tail < least - head && old[old.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const start = offset(before, head);
  const end = offset(before, old.length - tail);
  const middle = after.slice(head, after.length - tail);
  const ends = /\r\n/.test(before) ? middle.replace(/\n/g, "\r\n") : middle;
  const changed = before.slice(0, start) + ends + before.slice(end);
  // A lone "\r" and a "\n" that come to stand side by side would be one line end.
  return shown(changed) === after ? changed : after;
}

/** Where the character of `shown(text)` at `position` is in the text. */
function offset(text: string, position: number): number {
  let at = 0;
  for (let count = 0; count < position; count++) {
    at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
  }
  return at;
}
