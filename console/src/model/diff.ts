/**
 * Differences between two texts, by word.
 *
 * An own small one, rather than the package `diff`: we need one kind of comparison, pieces that know their place on
 * both sides, and a bound on the work, because a text can have 16 MB. It is the method of Myers (1986).
 */

export interface Piece {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Beyond so many differing words the rest counts as one change. */
const MOST_EDITS = 1500;
/** Beyond so many words texts are compared by line. */
const MOST_WORDS = 40_000;

const WORD = /[\p{L}\p{M}\p{N}_]+|\s+|[^\p{L}\p{M}\p{N}_\s]/gu;

export function differences(before: string, after: string): Piece[] {
  if (before === after) {
    return before === "" ? [] : [{ kind: "same", text: before }];
  }
  return joined(tokenDifferences(cut(before, after), cut(after, before)));
}

function cut(text: string, other: string): string[] {
  const byLine = text.length + other.length > MOST_WORDS * 6;
  return byLine ? text.match(/[^\n]*\n|[^\n]+/g) ?? [] : text.match(WORD) ?? [];
}

/** The differences of two lists of words, a piece for each word. */
export function tokenDifferences(before: string[], after: string[]): Piece[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) {
    start += 1;
  }
  let end = 0;
  while (end < before.length - start && end < after.length - start && before[before.length - 1 - end] === after[after.length - 1 - end]) {
    end += 1;
  }
  const middle = edits(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [
    ...before.slice(0, start).map((text): Piece => ({ kind: "same", text })),
    ...middle,
    ...before.slice(before.length - end).map((text): Piece => ({ kind: "same", text })),
  ];
}

/** The shortest list of edits, or one that replaces everything where that is too much work. */
function edits(before: string[], after: string[]): Piece[] {
  const replaced = (): Piece[] => [
    ...before.map((text): Piece => ({ kind: "removed", text })),
    ...after.map((text): Piece => ({ kind: "added", text })),
  ];
  if (before.length === 0 || after.length === 0) {
    return replaced();
  }
  const trail = furthest(before, after);
  return trail === null ? replaced() : backtrack(before, after, trail);
}

/** For each number of edits the furthest place on each diagonal; null beyond the bound. */
function furthest(before: string[], after: string[]): Int32Array[] | null {
  const most = Math.min(before.length + after.length, MOST_EDITS);
  const middle = most + 1;
  const reach = new Int32Array(2 * most + 3);
  const trail: Int32Array[] = [];
  for (let count = 0; count <= most; count += 1) {
    trail.push(reach.slice(middle - count - 1, middle + count + 2));
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      const at = middle + diagonal;
      const down = diagonal === -count || (diagonal !== count && (reach[at - 1] ?? 0) < (reach[at + 1] ?? 0));
      let x = down ? (reach[at + 1] ?? 0) : (reach[at - 1] ?? 0) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) {
        x += 1;
      }
      reach[at] = x;
      if (x >= before.length && x - diagonal >= after.length) {
        return trail;
      }
    }
  }
  return null;
}

function backtrack(before: string[], after: string[], trail: Int32Array[]): Piece[] {
  const pieces: Piece[] = [];
  let x = before.length;
  let y = after.length;
  for (let count = trail.length - 1; count >= 0; count -= 1) {
    const reach = trail[count] ?? new Int32Array();
    const at = (diagonal: number): number => reach[diagonal + count + 1] ?? 0;
    const diagonal = x - y;
    const down = diagonal === -count || (diagonal !== count && at(diagonal - 1) < at(diagonal + 1));
    const from = down ? diagonal + 1 : diagonal - 1;
    const fromX = count === 0 ? 0 : at(from);
    const fromY = count === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      pieces.push({ kind: "same", text: before[x] ?? "" });
    }
    if (count > 0) {
      pieces.push(down ? { kind: "added", text: after[fromY] ?? "" } : { kind: "removed", text: before[fromX] ?? "" });
      x = fromX;
      y = fromY;
    }
  }
  return pieces.reverse();
}

/** Neighbours of one kind become one piece; what is removed comes before what is added. */
function joined(pieces: Piece[]): Piece[] {
  const result: Piece[] = [];
  let removed = "";
  let added = "";
  const flush = (): void => {
    if (removed !== "") {
      result.push({ kind: "removed", text: removed });
    }
    if (added !== "") {
      result.push({ kind: "added", text: added });
    }
    removed = "";
    added = "";
  };
  for (const piece of pieces) {
    if (piece.kind === "removed") {
      removed += piece.text;
    } else if (piece.kind === "added") {
      added += piece.text;
    } else {
      flush();
      const last = result.at(-1);
      if (last?.kind === "same") {
        last.text += piece.text;
      } else {
        result.push({ ...piece });
      }
    }
  }
  flush();
  return result;
}

/** A value as a text that people can compare. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) {
    return "";
  }
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export interface Side {
  kind: "same" | "changed";
  text: string;
}

/** The same, as two sides that stand beside each other. */
export function sides(pieces: Piece[]): { before: Side[]; after: Side[] } {
  const before: Side[] = [];
  const after: Side[] = [];
  for (const piece of pieces) {
    if (piece.kind !== "added") {
      before.push({ kind: piece.kind === "same" ? "same" : "changed", text: piece.text });
    }
    if (piece.kind !== "removed") {
      after.push({ kind: piece.kind === "same" ? "same" : "changed", text: piece.text });
    }
  }
  return { before, after };
}
