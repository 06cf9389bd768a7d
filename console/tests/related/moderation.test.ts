import { describe, expect, it } from "vitest";
import type { Resource, State } from "../../src/api/description";
import { choiceFor, choicesFor, nextAfter, placeOfAnswer, subjectOf, undoGroups, undoOf, verdictsOf } from "../../src/model/moderation";

function state(name: string, more: Partial<State> = {}): State {
  return { name, label: name, public: false, private: false, draft: false, review: false, trash: false, schedules_to: null, names: [], ...more };
}

const OPEN = state("passed", { public: true, names: ["pass", "1"] });
const HELD = state("held", { review: true, names: ["held", "0"] });
const BAD = state("bad", { names: ["bad"] });
const GONE = state("gone", { trash: true, names: ["gone"] });
const STATES = [OPEN, HELD, BAD, GONE];

function resource(more: Partial<Resource> = {}): Resource {
  const operation = { method: "POST" as const, path: "/x/v1/notes", args: ["content", "parent", "about", "author"], file: false, batch: false };
  return {
    name: "notes", api_name: "note", group: "", label: "Notes", singular: "Note", description: "", icon: "", labels: {}, key: "id", parent: null,
    operations: { list: operation, create: operation, update: operation }, supports: [], hierarchical: false, states: STATES.map((one) => one.name),
    taxonomies: [], fields: {}, view: { default_view: {}, default_layouts: {}, view_list: [], form: {} }, ...more,
  };
}

describe("a moderated resource", () => {
  it("has records that wait and pass, and no drafts", () => {
    expect(verdictsOf(resource(), STATES)).toEqual({ waiting: HELD, passed: OPEN, refused: BAD, trash: GONE });
    expect(verdictsOf(resource(), [...STATES, state("draft", { draft: true })])).toBeNull();
    expect(verdictsOf(resource(), [OPEN, GONE])).toBeNull();
    expect(verdictsOf(resource({ operations: {} }), STATES)).toBeNull();
  });

  it("may have neither spam nor a trash", () => {
    expect(verdictsOf(resource(), [HELD, OPEN])).toEqual({ waiting: HELD, passed: OPEN, refused: null, trash: null });
  });
});

describe("decisions", () => {
  const verdicts = { waiting: HELD, passed: OPEN, refused: BAD, trash: GONE };
  const names = (of: string): string[] => choicesFor(verdicts, of).map((verdict) => `${verdict.name}:${verdict.to}`);

  it("follow from the state", () => {
    expect(names("held")).toEqual(["approve:pass", "spam:bad", "trash:gone"]);
    expect(names("passed")).toEqual(["hold:held", "spam:bad", "trash:gone"]);
    expect(names("bad")).toEqual(["restore:unbad", "approve:pass", "trash:gone"]);
    expect(names("gone")).toEqual(["restore:ungone", "approve:pass", "spam:bad"]);
  });

  it("know the names of requests, too", () => {
    expect(names("1")).toEqual(names("passed"));
    expect(choiceFor(verdicts, "held", "restore")).toBeNull();
  });

  it("leave out what there is not", () => {
    expect(choicesFor({ waiting: HELD, passed: OPEN, refused: null, trash: null }, "held").map((verdict) => verdict.name)).toEqual(["approve"]);
  });

  it("can be taken back, each record to the state that it had", () => {
    expect(undoOf(STATES, "passed")).toBe("pass");
    expect(undoOf(STATES, "unknown")).toBe("unknown");
    expect(undoGroups(STATES, new Map([["1", "held"], ["2", "passed"], ["3", "held"]]))).toEqual([{ to: "held", ids: ["1", "3"] }, { to: "pass", ids: ["2"] }]);
  });

  it("lead to the next record", () => {
    expect(nextAfter(["1", "2", "3"], new Set(["2"]), "2")).toBe("3");
    expect(nextAfter(["1", "2", "3"], new Set(["3"]), "3")).toBe("2");
    expect(nextAfter(["1"], new Set(["1"]), "1")).toBeNull();
  });
});

describe("an answer", () => {
  const item = { id: 7, about: 12, author: 12, parent: 0, _links: { up: [{ href: "http://x.example/json/x/v1/things/12" }] } };

  it("has the record as its parent, and the same subject", () => {
    expect(placeOfAnswer(resource(), item)).toEqual({ parent: 7, about: 12 });
  });

  it("is not possible where records have no parents, or the subject is unknown", () => {
    expect(placeOfAnswer(resource({ operations: {} }), item)).toBeNull();
    expect(placeOfAnswer(resource(), { ...item, about: 13 })).toBeNull();
  });
});

describe("the subject", () => {
  it("comes from the embedded record, or is at least linked", () => {
    const links = { up: [{ href: "http://x.example/json/x/v1/things/12" }] };
    const embedded = { up: [{ title: { rendered: "A thing" }, link: "http://x.example/a-thing/" }] };
    expect(subjectOf({ _links: links, _embedded: embedded })).toEqual({ title: "A thing", link: "http://x.example/a-thing/", href: links.up[0]?.href });
    expect(subjectOf({ _links: links })).toEqual({ title: "", link: null, href: links.up[0]?.href });
    expect(subjectOf({})).toBeNull();
  });
});
