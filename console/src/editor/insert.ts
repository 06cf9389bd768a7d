/**
 * What can be inserted, for the menu and for what follows "/".
 */
import type { Node } from "prosemirror-model";
import { type Key, t } from "../i18n";
import { insertBlocks, setText } from "./commands";
import { makeColumns, makeCover, makeFile, makeGallery, makeImage, makeMediaText, makeSimple, makeTable } from "./make";
import type { Session } from "./session";
import type { EditorProps, Picture } from "./types";

export interface Insertion {
  name: string;
  label: string;
  icon: string;
  /** What people call it elsewhere, in each language. */
  words: readonly string[];
  run(): void;
}

/** A row of the list: its name, text and icon; whether classic content may have it; what it does. */
interface Row {
  name: string;
  key: Key;
  icon: string;
  classic?: boolean;
  values?: Record<string, number>;
  allowed?: (props: EditorProps) => boolean;
  run(session: Session, props: EditorProps): void;
}

const put = (make: () => Node | null) => (session: Session) => {
  const node = make();
  if (node !== null) session.run(insertBlocks([node]));
};
const simple = (kind: string) => put(() => makeSimple(kind));
const text = (kind: string) => (session: Session) => session.run(setText(kind));

/** A frame with a picture from the library; without a library, or a choice, it begins without one. */
function framedPicture(make: (picture: Picture | null) => Node) {
  return (session: Session, props: EditorProps): void => {
    void (props.picture?.pick?.({ many: false }) ?? Promise.resolve([])).then(([picture]) => {
      if (!session.view.isDestroyed) session.run(insertBlocks([make(picture ?? null)]));
    });
  };
}

const ROWS: Row[] = [
  { name: "paragraph", key: "editor.paragraph", icon: "text", classic: true, run: text("paragraph") },
  { name: "heading-2", key: "editor.heading", values: { level: 2 }, icon: "heading", classic: true, run: text("heading-2") },
  { name: "heading-3", key: "editor.heading", values: { level: 3 }, icon: "heading", classic: true, run: text("heading-3") },
  { name: "list", key: "editor.list", icon: "list", classic: true, run: simple("list") },
  { name: "ordered_list", key: "editor.ordered_list", icon: "list-ordered", classic: true, run: simple("ordered_list") },
  {
    name: "image",
    key: "editor.image",
    icon: "image",
    classic: true,
    allowed: ({ picture }) => picture?.pick !== undefined || picture?.upload !== undefined,
    run: (session, props) => void pictures(session, props, false),
  },
  {
    name: "gallery",
    key: "editor.gallery",
    icon: "grid",
    allowed: ({ picture }) => picture?.pick !== undefined,
    run: (session, props) => void pictures(session, props, true),
  },
  { name: "quote", key: "editor.quote", icon: "quote", classic: true, run: simple("quote") },
  { name: "table", key: "editor.table", icon: "table", classic: true, run: put(() => makeTable(3, 3, true)) },
  { name: "embed", key: "editor.embed", icon: "external", classic: true, run: (session) => void session.ask({ kind: "embed" }) },
  { name: "code", key: "editor.code_block", icon: "code", classic: true, run: simple("code") },
  { name: "separator", key: "editor.separator", icon: "minus", classic: true, run: simple("separator") },
  { name: "columns-2", key: "editor.columns_two", icon: "columns", run: put(() => makeColumns(2)) },
  { name: "columns-3", key: "editor.columns_three", icon: "columns", run: put(() => makeColumns(3)) },
  { name: "group", key: "editor.group", icon: "block", run: simple("group") },
  { name: "cover", key: "editor.cover", icon: "image", run: framedPicture(makeCover) },
  { name: "media_text", key: "editor.media_text", icon: "columns", run: framedPicture(makeMediaText) },
  { name: "details", key: "editor.details", icon: "chevron-right", run: simple("details") },
  { name: "buttons", key: "editor.button_row", icon: "block", run: simple("buttons") },
  {
    name: "reusable",
    key: "editor.reusable",
    icon: "copy",
    allowed: ({ reusable }) => reusable !== undefined,
    run: (session) => void session.ask({ kind: "reusable" }),
  },
  { name: "video", key: "editor.video", icon: "video", allowed: ({ file }) => file?.pick !== undefined, run: (session, props) => void files(session, props, ["video"]) },
  { name: "audio", key: "editor.audio", icon: "music", allowed: ({ file }) => file?.pick !== undefined, run: (session, props) => void files(session, props, ["audio"]) },
  { name: "file", key: "editor.file", icon: "file", allowed: ({ file }) => file?.pick !== undefined, run: (session, props) => void files(session, props, []) },
  ...[4, 5, 6].map((level): Row => ({ name: `heading-${level}`, key: "editor.heading", values: { level }, icon: "heading", classic: true, run: text(`heading-${level}`) })),
  { name: "pullquote", key: "editor.pullquote", icon: "quote", run: simple("pullquote") },
  { name: "verse", key: "editor.verse", icon: "text", run: simple("verse") },
  { name: "preformatted", key: "editor.preformatted", icon: "code", classic: true, run: simple("preformatted") },
  { name: "spacer", key: "editor.spacer", icon: "sort", run: simple("spacer") },
  { name: "more", key: "editor.more", icon: "more", classic: true, run: simple("more") },
  { name: "nextpage", key: "editor.nextpage", icon: "page", classic: true, run: simple("nextpage") },
  { name: "shortcode", key: "editor.shortcode", icon: "code", run: (session) => void session.ask({ kind: "raw", pos: null, name: "core/shortcode" }) },
  { name: "html", key: "editor.html", icon: "code", run: (session) => void session.ask({ kind: "raw", pos: null, name: "core/html" }) },
];

/** Names that other editors have for what can be inserted, in English and German: people type them in either. */
const WORDS: Record<string, string> = {
  paragraph: "text plain absatz",
  "heading-2": "h2 title subtitle überschrift titel",
  "heading-3": "h3 title subtitle überschrift titel",
  "heading-4": "h4 title subtitle überschrift titel",
  "heading-5": "h5 title subtitle überschrift titel",
  "heading-6": "h6 title subtitle überschrift titel",
  list: "bullet bulleted unordered points ul liste aufzählung punkte",
  ordered_list: "numbered ordered numbers ol nummerierte nummern liste",
  image: "photo picture img figure bild foto grafik abbildung",
  gallery: "photos pictures images slideshow galerie bilder fotos",
  quote: "blockquote citation zitat",
  table: "grid rows columns tabelle zeilen spalten",
  embed: "youtube vimeo spotify soundcloud twitter instagram tiktok tweet iframe url link video einbetten einbettung",
  code: "listing snippet source programm quelltext",
  separator: "divider line rule hr trennlinie linie trenner",
  "columns-2": "layout grid spalten",
  "columns-3": "layout grid spalten",
  group: "section container box gruppe abschnitt",
  cover: "hero banner header titelbild",
  media_text: "image picture side medien bild",
  details: "accordion toggle faq spoiler collapse akkordeon aufklappen",
  buttons: "cta action knopf schaltfläche",
  reusable: "pattern synced snippet block vorlage baustein",
  video: "film movie mp4 clip",
  audio: "sound music podcast mp3 ton musik klang",
  file: "download document pdf attachment datei dokument anhang",
  pullquote: "quote citation zitat",
  verse: "poem poetry gedicht lyrik",
  preformatted: "monospace pre ascii",
  spacer: "space gap margin abstand leerraum",
  more: "excerpt readmore weiterlesen",
  nextpage: "page break seitenumbruch",
  shortcode: "code plugin",
  html: "markup raw code custom quelltext",
};

/** What can be inserted into the content as it is, in order. */
export function insertions(session: Session, props: EditorProps): Insertion[] {
  const classic = session.view.state.doc.attrs["classic"] === true;
  return ROWS.filter((row) => (!classic || row.classic === true) && (row.allowed?.(props) ?? true)).map((row) => ({
    name: row.name,
    label: t(row.key, row.values ?? {}),
    icon: row.icon,
    words: (WORDS[row.name] ?? "").split(" "),
    run: () => row.run(session, props),
  }));
}

/** Pictures from the library, or from the machine where there is no library. */
async function pictures(session: Session, props: EditorProps, many: boolean): Promise<void> {
  const chosen: Picture[] = (await props.picture?.pick?.({ many })) ?? [];
  if (session.view.isDestroyed) return;
  const node = many && chosen.length > 1 ? makeGallery(chosen) : chosen[0] === undefined ? null : many ? makeGallery(chosen) : makeImage(chosen[0]);
  if (node !== null) session.run(insertBlocks([node]));
  else session.view.focus();
}

async function files(session: Session, props: EditorProps, types: readonly string[]): Promise<void> {
  const chosen = (await props.file?.pick?.({ types })) ?? null;
  if (session.view.isDestroyed) return;
  const node = chosen === null ? null : makeFile(chosen, t("editor.download"));
  if (node !== null) session.run(insertBlocks([node]));
  else session.view.focus();
}
