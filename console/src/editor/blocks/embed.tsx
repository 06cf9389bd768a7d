/** What is at an address, shown by the front end. */
import type { Attrs, Node } from "prosemirror-model";
import { useState } from "preact/hooks";
import { t, textsOf } from "../../i18n";
import { Dialog, Field } from "../../ui";
import { OF_BOX } from "../change";
import { insertBlocks } from "../commands";
import { readCaptioned } from "../figures";
import { delimiters, figcaption, tag } from "../generate";
import { readJson, writeJson } from "../grammar";
import { decoded, escapedText } from "../html";
import { Actions, Line, PanelText } from "../inputs";
import type { BlockProps, DialogProps, Kinds, Read } from "../kind";
import { safeAddress } from "../looks";
import { attrsOf, schema } from "../schema";
import { figure } from "../specs";
import { CardView } from "../views";

const say = textsOf({
  en: { embed: "Embed", of: "Embed from {provider}", hint: "The address of a video, a post or a sound. It is shown to visitors, not here." },
  de: { embed: "Einbettung", of: "Einbettung von {provider}", hint: "Die Adresse eines Videos, eines Beitrags oder eines Tons. Besucher sehen sie eingebettet, hier erscheint sie nicht." },
});
const label = () => say("embed");

const read: Read = (reader, block, place) =>
  readCaptioned(reader, block, place, "embed", (box) => {
    if (box.name !== "div" || box.inside.includes("<")) return null;
    const url = readJson(block.json)?.["url"];
    return { name: block.name, url: typeof url === "string" ? url : decoded(box.inside.trim()) };
  });

/** Providers whose pages WordPress embeds, by a part of their address. */
const PROVIDERS: [RegExp, string, string][] = [
  [/^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//i, "youtube", "video"],
  [/^https?:\/\/(?:www\.|player\.)?vimeo\.com\//i, "vimeo", "video"],
  [/^https?:\/\/(?:www\.)?dailymotion\.com\//i, "dailymotion", "video"],
  [/^https?:\/\/(?:www\.)?ted\.com\//i, "ted", "video"],
  [/^https?:\/\/(?:www\.)?(?:twitter|x)\.com\//i, "twitter", "rich"],
  [/^https?:\/\/bsky\.app\//i, "bluesky", "rich"],
  [/^https?:\/\/open\.spotify\.com\//i, "spotify", "rich"],
  [/^https?:\/\/(?:www\.)?soundcloud\.com\//i, "soundcloud", "rich"],
  [/^https?:\/\/(?:www\.)?flickr\.com\//i, "flickr", "photo"],
];

/** What is at an address, shown by the front end. */
export function makeEmbed(address: string): Node | null {
  const url = safeAddress(address);
  if (url === null || !/^https?:\/\/\S+$/i.test(url)) return null;
  const provider = PROVIDERS.find(([pattern]) => pattern.test(url));
  if (provider === undefined) return schema.node("embed", { url, json: writeJson({ url }) });
  const [, slug, type] = provider;
  const wide = type === "video" ? "wp-embed-aspect-16-9 wp-has-aspect-ratio" : null;
  const json = { url, type, providerNameSlug: slug, ...(wide === null ? { responsive: true } : { responsive: true, className: wide }) };
  const classes = ["wp-block-embed", `is-type-${type}`, `is-provider-${slug}`, `wp-block-embed-${slug}`, ...(wide === null ? [] : [wide])];
  return schema.node("embed", { url, json: writeJson(json), tag: ` class="${classes.join(" ")}"` });
}

function cardTexts(node: Node): [string, string] {
  const provider = readJson(attrsOf(node).json)?.["providerNameSlug"];
  return [typeof provider === "string" && provider !== "" ? say("of", { provider }) : label(), node.attrs["url"] as string];
}

function embedded(address: string, node: Node): Attrs | null {
  const made = makeEmbed(address);
  return made === null ? null : { ...made.attrs, slice: null, style: attrsOf(node).style, cap: node.attrs["cap"] };
}

function EmbedDetails({ node, set }: BlockProps) {
  return <PanelText label={t("editor.address")} value={node.attrs["url"] as string} mode="url" onChange={(address) => set(embedded(address, node))} />;
}

function EmbedDialog({ session, onClose }: DialogProps) {
  const [address, setAddress] = useState("");
  const [wrong, setWrong] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    const made = makeEmbed(address.trim());
    setWrong(made === null);
    if (made === null) return;
    // Without blocks, an address alone in a paragraph is embedded.
    const classic = session.view.state.doc.attrs["classic"] === true;
    const node = classic ? schema.node("paragraph", null, [schema.text(made.attrs["url"] as string)]) : made;
    onClose();
    session.run(insertBlocks([node]));
  };
  return (
    <Dialog title={label()} onClose={onClose} actions={<Actions form="editor-embed" onClose={onClose} label={t("editor.insert")} />}>
      <form id="editor-embed" onSubmit={submit}>
        <Field label={t("editor.address")} help={say("hint")} error={wrong ? t("editor.alert_address") : undefined}>
          {(ids) => <Line ids={ids} first mode="url" value={address} onText={setAddress} />}
        </Field>
      </form>
    </Dialog>
  );
}

export default {
  embed: {
    order: 220,
    spec: figure("embed", { name: "core/embed", url: "" }),
    label,
    // Each provider had a block of its own.
    read: { "core/embed": read, "core-embed/*": read },
    write: (job) => {
      const { name, url } = job.node.attrs as { name: string; url: string };
      const inner = `<div class="wp-block-embed__wrapper">\n${escapedText(url)}\n</div>`;
      return delimiters(job, name, `<figure${tag(job)}>${inner}${figcaption(job)}</figure>`, { url });
    },
    usual: "wp-block-embed",
    view: (node) => new CardView(node, cardTexts),
    figure: true,
    aligns: OF_BOX,
    Details: EmbedDetails,
    insert: [
      {
        label,
        icon: "external",
        order: 100,
        words: "youtube vimeo spotify soundcloud twitter instagram tiktok tweet iframe url link video einbetten einbettung",
        classic: true,
        run: (session) => void session.ask({ kind: "block", Dialog: EmbedDialog }),
      },
    ],
    // Only pages of known providers: other addresses are links.
    ofAddress: (address) => {
      const made = makeEmbed(address);
      return made === null || attrsOf(made).tag === null ? null : made;
    },
  },
} satisfies Kinds;
