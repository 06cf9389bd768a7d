import { describe, expect, it } from "vitest";
import { formatWall, fromInput, instantOf, instantOfText, isFuture, nowText, offsetMinutes, parse, parseWall, show, toInput, wallAt } from "../../src/model/dates";

const BERLIN = "Europe/Berlin";
const at = (text: string): number => Date.parse(text);

describe("times on the site's clock", () => {
  it.each([
    ["2026-01-15T12:00:00", BERLIN, "2026-01-15T11:00:00Z"],
    ["2026-07-15T12:00:00", BERLIN, "2026-07-15T10:00:00Z"],
    ["2026-07-15T12:00:00", "America/New_York", "2026-07-15T16:00:00Z"],
    ["2026-07-15T12:00:00", "Asia/Kathmandu", "2026-07-15T06:15:00Z"],
    ["2026-07-15T12:00:00", "Australia/Lord_Howe", "2026-07-15T01:30:00Z"],
    ["2026-07-15T12:00:00", "+02:00", "2026-07-15T10:00:00Z"],
    ["2026-07-15T12:00:00", "-03:30", "2026-07-15T15:30:00Z"],
    ["2026-07-15T12:00:00", "UTC+5.5", "2026-07-15T12:00:00Z"],
    ["2026-07-15T12:00:00", "UTC", "2026-07-15T12:00:00Z"],
  ])("%s in %s is %s", (wall, zone, utc) => {
    const parsed = parseWall(wall);
    expect(parsed).not.toBeNull();
    expect(parsed === null ? null : instantOf(parsed, zone)).toEqual({ instant: at(utc), note: null });
    expect(formatWall(wallAt(at(utc), zone))).toBe(wall);
  });

  it("a time that the clocks skip counts from before the jump, and is noted", () => {
    const wall = parseWall("2026-03-29T02:30:00");
    expect(wall === null ? null : instantOf(wall, BERLIN)).toEqual({ instant: at("2026-03-29T01:30:00Z"), note: "skipped" });
  });

  it("of a time that the clocks show twice the first is meant", () => {
    const wall = parseWall("2026-10-25T02:30:00");
    expect(wall === null ? null : instantOf(wall, BERLIN)).toEqual({ instant: at("2026-10-25T00:30:00Z"), note: "twice" });
  });

  it("every hour of two changes of the clocks returns to itself", () => {
    for (const zone of [BERLIN, "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "+05:45"]) {
      for (const start of [at("2026-03-07T00:00:00Z"), at("2026-03-28T00:00:00Z"), at("2026-10-24T00:00:00Z"), at("2026-10-31T00:00:00Z"), at("2026-04-04T00:00:00Z")]) {
        for (let hour = 0; hour < 60; hour += 1) {
          const instant = start + hour * 3_600_000;
          const back = instantOf(wallAt(instant, zone), zone);
          expect(back.note === "twice" ? [0, 1_800_000, 3_600_000].includes(instant - back.instant) : back.instant === instant).toBe(true);
        }
      }
    }
  });

  it("reads offsets", () => {
    expect([offsetMinutes("+02:00"), offsetMinutes("-0330"), offsetMinutes("UTC+2"), offsetMinutes("Z"), offsetMinutes(BERLIN)]).toEqual([120, -210, 120, 0, null]);
  });

  it("refuses what is no time", () => {
    expect(["2026-02-30T10:00:00", "2026-13-01", "tomorrow", "", "2026-01-01T25:00:00"].map(parse)).toEqual([null, null, null, null, null]);
  });
});

describe("inputs", () => {
  it.each([
    ["2026-07-15T12:00:05", "2026-07-15T12:00:05"],
    ["2026-07-15T10:00:00+00:00", "2026-07-15T12:00:00"],
    ["2026-07-15T10:00:00Z", "2026-07-15T12:00:00"],
    ["2026-07-15T12:00:00+02:00", "2026-07-15T12:00:00"],
  ])("%s is shown as %s, and written back as it was", (text, shown) => {
    expect(toInput(text, BERLIN)).toBe(shown);
    const written = fromInput(shown, BERLIN, text);
    expect(instantOfText(written ?? "", BERLIN)).toBe(instantOfText(text, BERLIN));
    expect(/[Z]$|[+-]\d\d:\d\d$/.test(written ?? "")).toBe(/[Z]$|[+-]\d\d:\d\d$/.test(text));
  });

  it("a time in UTC without an offset stays in UTC", () => {
    expect(toInput("2026-07-15T10:00:00", BERLIN, "utc")).toBe("2026-07-15T12:00:00");
    expect(fromInput("2026-07-15T12:00", BERLIN, "2026-07-15T10:00:00", "utc")).toBe("2026-07-15T10:00:00");
  });

  it("a first value has no zone; an empty one is none", () => {
    expect(fromInput("2026-07-15T12:00", BERLIN, null)).toBe("2026-07-15T12:00:00");
    expect(fromInput("", BERLIN, "2026-07-15T12:00:00")).toBeNull();
  });
});

it("the future begins on the site's clock", () => {
  const now = at("2026-07-15T10:00:00Z");
  expect(nowText(BERLIN, now)).toBe("2026-07-15T12:00:00");
  expect(isFuture("2026-07-15T11:59:59", BERLIN, now)).toBe(false);
  expect(isFuture("2026-07-15T12:00:01", BERLIN, now)).toBe(true);
  expect(isFuture(null, BERLIN, now)).toBe(false);
});

it("people read the time of the site, wherever they are", () => {
  expect(show("2026-07-15T10:00:00Z", BERLIN, "en-GB")).toContain("12:00");
  expect(show("2026-07-15T10:00:00", BERLIN, "en-GB")).toContain("10:00");
  expect(show("soon", BERLIN, "en-GB")).toBe("soon");
});
