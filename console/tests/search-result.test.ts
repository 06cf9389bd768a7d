import { describe, expect, it } from "vitest";
import { warningsOf, filled, lengthOf, shownOf, seoDocumentOf } from "../src/model/search-result";

const around = { title: "At six", savedTitle: "At six", site: "Harbour" };
const seo = seoDocumentOf({
  title: "At six | Harbour",
  description: "The boats come in.",
  robots: { index: true },
  open_graph: { images: [{ url: "https://site.example/a.png", width: 600, height: 400 }] },
});

describe("what is shown of a record", () => {
  it("is what the server tells, until somebody types", () => {
    const shown = shownOf(seo, {}, {}, around);
    expect(shown).toMatchObject({ title: "At six | Harbour", description: "The boats come in.", socialTitle: "At six | Harbour", pictureLater: false });
    expect(shown.picture?.url).toBe("https://site.example/a.png");
  });

  it("follows the title of the record", () => {
    expect(shownOf(seo, {}, {}, { ...around, title: "At seven" }).title).toBe("At seven | Harbour");
  });

  it("is what an editor says, with the members that are known here", () => {
    const shown = shownOf(seo, {}, { title: "{title} by the sea | {site.title}", description: "Fish", social_title: "Look" }, around);
    expect(shown).toMatchObject({ title: "At six by the sea | Harbour", description: "Fish", socialTitle: "Look", socialDescription: "Fish" });
    expect(filled("{tags.0} {title}", around)).toBe("{tags.0} At six");
  });

  it("is the usual title where the own one is taken away again", () => {
    const shown = shownOf(seo, { title: "Mine", description: "Mine, too" }, {}, around);
    expect(shown).toMatchObject({ title: "At six – Harbour", description: "" });
    expect(shownOf(seoDocumentOf(undefined), {}, {}, { ...around, title: "" }).title).toBe("Harbour");
  });

  it("has the picture that is chosen, or another one once it is saved", () => {
    const chosen = { url: "https://site.example/b.png", width: 1200, height: 630 };
    expect(shownOf(seo, { picture: 3 }, { picture: 4 }, around)).toMatchObject({ picture: null, pictureLater: true });
    expect(shownOf(seo, { picture: 3 }, { picture: 4 }, around, chosen)).toMatchObject({ picture: chosen, pictureLater: false });
    expect(shownOf(seo, { picture: 3 }, { picture: 0 }, around).pictureLater).toBe(true);
    expect(shownOf(seo, { picture: 3 }, { picture: 3 }, around, chosen)).toMatchObject({ picture: seo.picture, pictureLater: false });
    expect(shownOf(seo, {}, { picture: 0, picture_url: "" }, around).pictureLater).toBe(false);
  });
});

describe("what an editor should look at", () => {
  const limits = { width: 1200, height: 630 };
  const link = "https://site.example/at-six/";
  const kinds = (values: Record<string, unknown>, hidden = false, from = seo): string[] =>
    warningsOf(shownOf(from, {}, values, around), values["canonical"], link, hidden, limits).map(({ kind }) => kind);
  const withPicture = (width: number | null, height: number | null): ReturnType<typeof seoDocumentOf> =>
    seoDocumentOf({ description: "x", open_graph: { images: [{ url: "https://a.example/b.png", width, height }] } });

  it("warns", () => {
    expect(kinds({})).toEqual(["small"]);
    expect(kinds({}, true, seoDocumentOf({}))).toEqual(["no_description", "hidden"]);
    expect(kinds({ canonical: "https://site.example/at-six" })).toEqual(["small"]);
    expect(kinds({ canonical: "https://other.example/" })).toEqual(["small", "elsewhere"]);
    expect(kinds({}, false, withPicture(null, null))).toEqual([]);
    expect(kinds({}, false, withPicture(1200, 630))).toEqual([]);
    expect(kinds({}, false, withPicture(1200, 629))).toEqual(["small"]);
  });

  it("survives anything that is no document", () => {
    for (const seo of [null, 1, "x", [], { open_graph: { images: "x" }, robots: 1, title: 2 }]) {
      expect(seoDocumentOf(seo)).toEqual({ title: "", description: "", index: true, picture: null });
    }
    expect(lengthOf("a👩b")).toBe(3);
  });
});
