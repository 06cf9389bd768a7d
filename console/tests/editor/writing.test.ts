import { fireEvent } from "@testing-library/preact";
import { afterEach, describe, expect, it } from "vitest";
import { fullAddress, hostAddress } from "../../src/editor/addresses";
import { insertions } from "../../src/editor/insert";
import { overviewOf } from "../../src/editor/overview";
import { Content } from "../../src/editor/read";
import { Session } from "../../src/editor/session";
import { matching } from "../../src/editor/slash";
import type { EditorProps } from "../../src/editor/types";

const picks: (readonly string[])[] = [];
const props: EditorProps = {
  value: "",
  onChange: () => undefined,
  label: "Content",
  picture: { pick: () => Promise.resolve([]) },
  file: {
    pick: ({ types }) => {
      picks.push(types);
      return Promise.resolve(null);
    },
  },
};

function opened(value = ""): Session {
  const place = document.createElement("div");
  document.body.append(place);
  return new Session(place, () => ({ ...props, value }));
}

/** Types as a browser does: each sign is offered to the rules first. */
function type(session: Session, text: string): void {
  for (const sign of text) {
    const { view } = session;
    const { from, to } = view.state.selection;
    const taken = view.someProp("handleTextInput", (take) => take(view, from, to, sign, () => view.state.tr.insertText(sign, from, to)));
    if (taken !== true) view.dispatch(view.state.tr.insertText(sign, from, to));
  }
}

afterEach(() => {
  document.body.textContent = "";
});

describe("what is typed", () => {
  it.each([
    ["*one*", "<em>one</em>"],
    ["a *b c* d", "a <em>b c</em> d"],
    ["**one**", "<strong>one</strong>"],
    ["~~one~~", "<s>one</s>"],
    ["[a text](https://example.org/x)", '<a href="https://example.org/x">a text</a>'],
    ["[mail](a@example.org)", '<a href="mailto:a@example.org">mail</a>'],
    ["[page](/about)", '<a href="/about">page</a>'],
    ["2 * 3 * 4", "2 * 3 * 4"],
    ["[x](winter)", "[x](winter)"],
    ["[x](javascript:alert(1))", "[x](javascript:alert(1))"],
    ["a*b*", "a*b*"],
  ])("%s becomes %s", (typed, written) => {
    const session = opened();
    type(session, typed);
    expect(session.flush()).toContain(`<p>${written}</p>`);
  });

  it("the key behind the fence of a listing makes no empty line", () => {
    const session = opened();
    type(session, "```");
    fireEvent.keyDown(session.view.dom, { key: "Enter" });
    type(session, "let x;");
    expect(session.flush()).toContain("<code>let x;</code>");
  });
});

describe("what can be inserted", () => {
  const first = (query: string): string | undefined => {
    const session = opened();
    return matching(insertions(session, props), query)[0]?.name;
  };
  it.each([
    ["video", "video"], ["film", "video"], ["photo", "image"], ["foto", "image"], ["youtube", "embed"], ["audio", "audio"], ["musik", "audio"], ["bullet", "list"],
    ["aufz", "list"], ["heading 4", "heading-4"], ["h4", "heading-4"], ["image", "image"], ["gal", "gallery"], ["tab", "table"], ["quote", "quote"], ["pdf", "file"], ["divider", "separator"],
  ])("/%s finds %s", (query, name) => expect(first(query)).toBe(name));

  it("a film is chosen among films, and a table needs no question", async () => {
    const session = opened();
    const all = insertions(session, props);
    all.find((one) => one.name === "video")?.run();
    await Promise.resolve();
    expect(picks.at(-1)).toEqual(["video"]);
    all.find((one) => one.name === "table")?.run();
    expect(session.asked.value).toBeNull();
    expect(session.flush()).toContain("<table");
  });
});

describe("an address", () => {
  it.each([
    ["https://example.org", "https://example.org"], ["www.example.org", "https://www.example.org"], ["/about", "/about"], ["#top", "#top"], ["?p=3", "?p=3"],
    ["a@example.org", "mailto:a@example.org"], ["tel:+49", "tel:+49"], ["winter", null], ["two words", null], ["winter: a tale", null], ["", null], ["example.org/x", null],
  ])("%s is %s", (text, address) => expect(fullAddress(text)).toBe(address));

  it.each([["example.org/x", "https://example.org/x"], ["bücher.example", "https://bücher.example"], ["winter", null], ["3.14", null], ["a b.c", null]])("%s may be the host %s", (text, address) => expect(hostAddress(text)).toBe(address));
});

describe("a text", () => {
  it("has its words counted, and its headings listed", () => {
    const { doc } = Content.read("<h2>A title</h2>\n\n<p>It's a well-known <em>word</em>.</p>\n\n<h3>Part</h3>\n\n<p>猫が好き 12</p>");
    const { words, headings } = overviewOf(doc);
    expect(words).toBe(2 + 4 + 1 + 5);
    expect(headings.map(({ level, text }) => [level, text])).toEqual([[2, "A title"], [3, "Part"]]);
  });
});
