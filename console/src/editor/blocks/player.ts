/** Players of audio and video files. */
import { textsOf } from "../../i18n";
import { OF_BOX } from "../change";
import { readCaptioned } from "../figures";
import { delimiters, figcaption, tag } from "../generate";
import { writeJson } from "../grammar";
import { attribute, escapedValue, insideOf } from "../html";
import { type Kinds, type Read, type Row } from "../kind";
import { safePicture } from "../looks";
import { schema } from "../schema";
import { figure } from "../specs";
import { CardView } from "../views";

const say = textsOf({ en: { audio: "Audio", video: "Video" }, de: { audio: "Audio", video: "Video" } });
type Sort = "audio" | "video";

const read = (kind: Sort): Read => (reader, block, place) =>
  readCaptioned(reader, block, place, "player", ({ name, head, inside, tail }) => (name === kind ? { kind, media: head + inside + tail } : null));

const row = (kind: Sort, icon: string, order: number, words: string): Row => ({
  name: kind,
  label: () => say(kind),
  icon,
  order,
  words,
  allowed: ({ file }) => file?.pick !== undefined,
  run: (session, { file }) => session.insertFile(file, [kind]),
});

export default {
  player: {
    order: 230,
    spec: figure("player", { kind: "audio", media: "" }),
    label: (node) => say(node.attrs["kind"] as Sort),
    read: { "core/audio": read("audio"), "core/video": read("video") },
    write: (job) => delimiters(job, `core/${job.node.attrs["kind"] as Sort}`, `<figure${tag(job)}>${job.node.attrs["media"] as string}${figcaption(job)}</figure>`),
    usual: (node) => `wp-block-${node.attrs["kind"] as Sort}`,
    view: (node) =>
      new CardView(node, ({ attrs }) => {
        const open = /^\s*<[^>]*>/.exec(attrs["media"] as string)?.[0] ?? "";
        return [say(attrs["kind"] as Sort), attribute(insideOf(open.trim()), "src") ?? ""];
      }),
    figure: true,
    aligns: OF_BOX,
    insert: [row("video", "video", 210, "film movie mp4 clip"), row("audio", "music", 220, "sound music podcast mp3 ton musik klang")],
    ofFile: (file) => {
      const kind = /^(audio|video)\//.exec(file.mime)?.[1];
      const url = safePicture(file.url) ?? "";
      if (kind === undefined || url === "") return null;
      const json = writeJson(file.id === undefined ? {} : { id: file.id });
      return schema.node("player", { kind, json, media: `<${kind} controls src="${escapedValue(url)}"></${kind}>` });
    },
  },
} satisfies Kinds;
