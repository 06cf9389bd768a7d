/**
 * Times of the site. Most properties are the time that a clock at the site shows, without a zone; those whose names end
 * with `_gmt` are UTC.
 */

import { formatOf } from "../i18n/formats";

export interface Zone {
  /** IANA name, or an offset such as "+02:00". */
  name: string;
}

const ZONED = /(Z|[+-]\d\d:?\d\d)$/i;
const OFFSET = /^([+-])(\d\d):?(\d\d)$/;

/** The moment of a value; null for what is no time. */
export function momentOf(value: unknown, field: string, zone: string): Date | null {
  if (typeof value !== "string" || value === "") return null;
  const utc = ZONED.test(value) ? value : `${value.length === 10 ? `${value}T00:00:00` : value}Z`;
  const asUtc = new Date(utc);
  if (Number.isNaN(asUtc.getTime())) return null;
  if (ZONED.test(value) || field.endsWith("_gmt")) return asUtc;
  return fromWall(asUtc, zone);
}

/** The moment at which clocks in the zone show what `wall` has as UTC. */
function fromWall(wall: Date, zone: string): Date {
  const first = new Date(wall.getTime() - offsetAt(wall, zone));
  // Around a change of the clocks the offset of the first guess may be another one.
  return new Date(wall.getTime() - offsetAt(first, zone));
}

/** Milliseconds that clocks in the zone are ahead of UTC. */
export function offsetAt(moment: Date, zone: string): number {
  const told = OFFSET.exec(zone);
  if (told !== null) {
    const minutes = Number(told[2]) * 60 + Number(told[3]);
    return (told[1] === "-" ? -minutes : minutes) * 60_000;
  }
  const parts = Object.fromEntries(partsFormat(zone).formatToParts(moment).map((part) => [part.type, part.value]));
  const shown = Date.UTC(
    Number(parts["year"]),
    Number(parts["month"]) - 1,
    Number(parts["day"]),
    Number(parts["hour"]),
    Number(parts["minute"]),
    Number(parts["second"]),
  );
  return shown - Math.floor(moment.getTime() / 1000) * 1000;
}

function partsFormat(zone: string): Intl.DateTimeFormat {
  const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric", hourCycle: "h23" } as const;
  try {
    return formatOf(Intl.DateTimeFormat, "en-US", { ...fields, timeZone: zone });
  } catch {
    return formatOf(Intl.DateTimeFormat, "en-US", { ...fields, timeZone: "UTC" });
  }
}

/** A moment as the site's clock shows it, in the form of requests: "2026-11-24T18:30:00". */
export function toWall(moment: Date, zone: string): string {
  return new Date(moment.getTime() + offsetAt(moment, zone)).toISOString().slice(0, 19);
}

const STYLES = {
  date: { dateStyle: "medium" },
  time: { timeStyle: "short" },
  full: { dateStyle: "full", timeStyle: "short" },
  both: { dateStyle: "medium", timeStyle: "short" },
} as const;

/** Date and time for people, by the site's clock. */
export function dateText(moment: Date, zone: string, tag: string, style: "date" | "time" | "full" | "both" = "both"): string {
  const wall = new Date(moment.getTime() + offsetAt(moment, zone));
  return formatOf(Intl.DateTimeFormat, tag, { ...STYLES[style], timeZone: "UTC" } as const).format(wall);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "3 days ago", "in 2 hours". */
export function relativeText(moment: Date, now: Date, tag: string): string {
  const seconds = (moment.getTime() - now.getTime()) / 1000;
  const format = formatOf(Intl.RelativeTimeFormat, tag, { numeric: "auto" as const });
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit);
  }
  return format.format(0, "second");
}
