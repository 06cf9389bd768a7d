/**
 * Times in the zone of the site.
 *
 * Records say times as WordPress does: `2026-03-29T01:30:00`, without a zone, and mean that of the site; the twin
 * `…_gmt` means UTC. Other times carry their offset. A zone is an IANA name, or an offset such as "+02:00".
 */

/** A time on the clock of some zone. */
export interface Wall {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?$/i;
const OFFSET = /^(?:UTC)?([+-])(\d{1,2})(?::?(\d{2}))?$/i;
const MINUTE = 60_000;

export function parseWall(text: string): Wall | null {
  return parse(text)?.wall ?? null;
}

/** The time as written, and its offset ("" where there is none). */
export function parse(text: string): { wall: Wall; offset: string } | null {
  const found = TIME.exec(text.trim());
  if (found === null) {
    return null;
  }
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
  const wall = { year, month, day, hour, minute, second };
  return exists(wall) ? { wall, offset: found[7] ?? "" } : null;
}

function exists(wall: Wall): boolean {
  const again = fromUtc(utc(wall));
  return (Object.keys(wall) as (keyof Wall)[]).every((part) => wall[part] === again[part]);
}

export function formatWall(wall: Wall): string {
  return `${digits(wall.year, 4)}-${digits(wall.month)}-${digits(wall.day)}T${digits(wall.hour)}:${digits(wall.minute)}:${digits(wall.second)}`;
}

function digits(value: number, length = 2): string {
  return String(value).padStart(length, "0");
}

/** Milliseconds since 1970 of a clock in UTC. */
function utc(wall: Wall): number {
  const date = new Date(0);
  date.setUTCFullYear(wall.year, wall.month - 1, wall.day);
  date.setUTCHours(wall.hour, wall.minute, wall.second, 0);
  return date.getTime();
}

function fromUtc(instant: number): Wall {
  const date = new Date(instant);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

/** Minutes of an offset such as "+02:00", "Z" or "UTC+2"; null where the text is none. */
export function offsetMinutes(text: string): number | null {
  if (/^(Z|UTC|GMT)$/i.test(text)) {
    return 0;
  }
  const found = OFFSET.exec(text);
  if (found === null) {
    return null;
  }
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? 0);
  return found[1] === "-" ? -minutes : minutes;
}

function offsetText(minutes: number): string {
  const sign = minutes < 0 ? "-" : "+";
  const size = Math.abs(minutes);
  return `${sign}${digits(Math.floor(size / 60))}:${digits(size % 60)}`;
}

const formats = new Map<string, Intl.DateTimeFormat | null>();

/** The clock of an IANA zone; null where the browser does not know it. */
function clockOf(zone: string): Intl.DateTimeFormat | null {
  let format = formats.get(zone);
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat("en-US", {
        timeZone: zone, hourCycle: "h23", calendar: "gregory", numberingSystem: "latn", era: "short",
        year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
      });
    } catch {
      format = null;
    }
    formats.set(zone, format);
  }
  return format;
}

/** What the clocks of a zone show at an instant. A zone that nobody knows counts as UTC. */
export function wallAt(instant: number, zone: string): Wall {
  const fixed = offsetMinutes(zone);
  if (fixed !== null) {
    return fromUtc(instant + fixed * MINUTE);
  }
  const clock = clockOf(zone);
  if (clock === null) {
    return fromUtc(instant);
  }
  const parts: Record<string, string> = {};
  for (const part of clock.formatToParts(new Date(instant))) {
    parts[part.type] = part.value;
  }
  const number = (name: string): number => Number(parts[name] ?? 0);
  const year = parts["era"] === "BC" ? 1 - number("year") : number("year");
  return { year, month: number("month"), day: number("day"), hour: number("hour") % 24, minute: number("minute"), second: number("second") };
}

/** Minutes that a zone is ahead of UTC at an instant. */
export function offsetAt(instant: number, zone: string): number {
  return Math.round((utc(wallAt(instant, zone)) - Math.floor(instant / 1000) * 1000) / MINUTE);
}

export interface Moment {
  instant: number;
  /** `skipped`: clocks jump over this time; `twice`: they show it two times, and this is the first. */
  note: "skipped" | "twice" | null;
}

/** The instant at which the clocks of a zone show a time. A time that they skip counts from before the jump. */
export function instantOf(wall: Wall, zone: string): Moment {
  const guess = utc(wall);
  const offsets = [...new Set([offsetAt(guess - 86_400_000, zone), offsetAt(guess + 86_400_000, zone)])];
  const candidates = offsets.map((offset) => guess - offset * MINUTE).sort((a, b) => a - b);
  const matching = candidates.filter((instant) => utc(wallAt(instant, zone)) === guess);
  if (matching[0] !== undefined) {
    return { instant: matching[0], note: matching.length > 1 ? "twice" : null };
  }
  const before = offsetAt(guess - 86_400_000, zone);
  return { instant: guess - before * MINUTE, note: candidates.length > 1 ? "skipped" : null };
}

/** The instant of a time in a record; one without an offset is in `zone`. */
export function instantOfText(text: string, zone: string): number | null {
  const found = parse(text);
  if (found === null) {
    return null;
  }
  const minutes = found.offset === "" ? null : offsetMinutes(found.offset);
  return minutes === null ? instantOf(found.wall, zone).instant : utc(found.wall) - minutes * MINUTE;
}

/** What an input of the type `datetime-local` shows for a time in a record, on the site's clock. */
export function toInput(text: string, zone: string, own: "site" | "utc" = "site"): string {
  const found = parse(text);
  if (found === null) {
    return "";
  }
  if (found.offset === "" && own === "site") {
    return formatWall(found.wall);
  }
  const minutes = found.offset === "" ? 0 : (offsetMinutes(found.offset) ?? 0);
  return formatWall(wallAt(utc(found.wall) - minutes * MINUTE, zone));
}

/** What a record says for a time from such an input: in the way of the value that it had. */
export function fromInput(input: string, zone: string, before: unknown, own: "site" | "utc" = "site"): string | null {
  const wall = parseWall(input);
  if (wall === null) {
    return null;
  }
  const offset = typeof before === "string" ? (parse(before)?.offset ?? "") : "";
  if (offset === "" && own === "site") {
    return formatWall(wall);
  }
  const { instant } = instantOf(wall, zone);
  if (offset === "") {
    return formatWall(fromUtc(instant));
  }
  const minutes = /^z$/i.test(offset) ? 0 : offsetAt(instant, zone);
  return formatWall(wallAt(instant, minutes === 0 ? "UTC" : zone)) + (/^z$/i.test(offset) ? "Z" : offsetText(minutes));
}

/** The current time on the site's clock, as a record says it. */
export function nowText(zone: string, now = Date.now()): string {
  return formatWall(wallAt(now, zone));
}

export function isFuture(text: unknown, zone: string, now = Date.now()): boolean {
  const instant = typeof text === "string" ? instantOfText(text, zone) : null;
  return instant !== null && instant > now;
}

/** A time for people, on the site's clock. */
export function show(text: string, zone: string, language: string, style: "short" | "medium" | "long" = "medium"): string {
  const found = parse(text);
  if (found === null) {
    return text;
  }
  const minutes = found.offset === "" ? null : offsetMinutes(found.offset);
  const wall = minutes === null ? found.wall : wallAt(utc(found.wall) - minutes * MINUTE, zone);
  return new Intl.DateTimeFormat(language, { dateStyle: style, timeStyle: "short", timeZone: "UTC" }).format(utc(wall));
}
