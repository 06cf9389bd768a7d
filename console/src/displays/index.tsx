/** How values are shown in lists: one component for each kind of value, never for a resource. */

import type { ComponentChildren, JSX } from "preact";
import { api, findResource, findState } from "../api";
import { isObject } from "../api/failure";
import { fresh } from "../files/fresh";
import { locale, number as numberText, t } from "../i18n";
import { formatOf } from "../i18n/formats";
import { tone } from "../model/list-states";
import { dateText, momentOf, relativeText } from "../model/moments";
import { humanName, labelOf, plainText, stripHtml, valueAt } from "../model/record";
import { href, places } from "../router";
import { Icon } from "../ui";
import { type DisplayName, displayOf } from "./choice";
import { related, relatedIn } from "./related";
import type { Display, DisplayProps } from "./types";

/** Longer texts are cut; the whole is in the tooltip. */
const LONGEST = 160;
const MOST_ITEMS = 4;

function cut(text: string): ComponentChildren {
  if (text.length <= LONGEST) return text;
  return <span title={text.slice(0, 2000)}>{text.slice(0, LONGEST).trimEnd()} …</span>;
}

function nothing(): JSX.Element {
  return (
    <span class="soft">
      <span aria-hidden="true">–</span>
      <span class="hidden-visually">{t("lists.no_value")}</span>
    </span>
  );
}

const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

const Text: Display = ({ value }) => cut(plainText(value));

const Html: Display = ({ value }) => {
  const rendered = isObject(value) && typeof value["rendered"] === "string" ? value["rendered"] : plainText(value);
  const text = stripHtml(rendered);
  return text === "" ? nothing() : cut(text);
};

const YesNo: Display = ({ value }) => (
  <span class="yes-no">
    <Icon name={value === true ? "check" : "close"} size={16} />
    <span>{t(value === true ? "lists.yes" : "lists.no")}</span>
  </span>
);

function labelOfValue(hints: DisplayProps["hints"], value: unknown): string {
  const text = String(value);
  return hints.labels?.[text] ?? humanName(text);
}

const Enum: Display = ({ value, hints }) => <span class="badge">{labelOfValue(hints, value)}</span>;

const StateBadge: Display = ({ value, resource }) => {
  const state = findState(resource, String(value));
  if (state?.inherits === true) return null;
  return <span class={`badge badge-${state === undefined ? "plain" : tone(state)}`}>{state?.label ?? humanName(String(value))}</span>;
};

function moment(value: unknown, field: string, style: "both" | "date"): ComponentChildren {
  const zone = api().description.site.timezone;
  const found = momentOf(value, field, zone);
  if (found === null) return cut(plainText(value));
  const tag = locale.value;
  return (
    <time dateTime={found.toISOString()} title={dateText(found, zone, tag, "full")} class="moment">
      <span>{dateText(found, zone, tag, style)}</span>
      <span class="soft moment-relative">{relativeText(found, new Date(), tag)}</span>
    </time>
  );
}

const DateTime: Display = ({ value, field }) => moment(value, field, "both");
const DateOnly: Display = ({ value, field }) => {
  const found = momentOf(value, field, "UTC");
  return found === null ? cut(plainText(value)) : dateText(found, "UTC", locale.value, "date");
};
/** Seconds since 1970; dialects write the same moment as a text in UTC. */
const Timestamp: Display = ({ value, field }) =>
  typeof value === "number" ? moment(new Date(value * 1000).toISOString(), field, "both") : moment(value, `${field}_gmt`, "both");

const NumberText: Display = ({ value }) =>
  typeof value === "number" ? <span class="number">{numberText(value)}</span> : cut(plainText(value));

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** A size for people, in the steps that the server's limits are declared in: "1.4 MB". */
export function bytesText(value: number, tag: string): string {
  let size = value;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return formatOf(Intl.NumberFormat, tag, { style: "unit", unit: UNITS[unit] ?? "byte", unitDisplay: "short", maximumFractionDigits: 1 } as const).format(size);
}

const Bytes: Display = ({ value }) => (typeof value === "number" ? <span class="number">{bytesText(value, locale.value)}</span> : nothing());

const Colour: Display = ({ value }) => {
  const text = plainText(value);
  return (
    <span class="row">
      <span class="swatch" aria-hidden="true" style={{ backgroundColor: text }} />
      <code>{text}</code>
    </span>
  );
};

/** The address of a picture of this site, in a text, in a table of sizes, or in a record of a file. */
export function pictureOf(value: unknown): string | null {
  if (typeof value === "string") return ownAddress(value);
  if (!isObject(value)) return null;
  const numbered = Object.entries(value).filter(([size]) => /^\d+$/.test(size));
  const [, largest] = numbered.sort(([one], [other]) => Number(other) - Number(one))[0] ?? [];
  return typeof largest === "string" ? ownAddress(largest) : null;
}

/** Pictures from elsewhere would tell other sites who works here: they are not loaded. */
function ownAddress(address: string): string | null {
  try {
    const url = new URL(address, location.href);
    if (url.origin === location.origin) return fresh(url.href);
    // The site may be known by another name than the console.
    return url.origin === new URL(api().description.site.url).origin ? fresh(url.pathname + url.search) : null;
  } catch {
    return null;
  }
}

/** Of a file with several sizes the smallest that is large enough for a tile. */
function smallPicture(item: DisplayProps["item"]): unknown {
  const sizes = valueAt(item, "media_details.sizes");
  if (!isObject(sizes)) return null;
  const all = Object.values(sizes).filter(isObject);
  const enough = all.filter((size) => Number(size["width"]) >= TILE).sort((one, other) => Number(one["width"]) - Number(other["width"]));
  return (enough[0] ?? null)?.["source_url"];
}

const TILE = 300;

const Picture: Display = ({ value, item, resource, hints }) => {
  if (hints.relation !== undefined) return <RelatedPicture resource={hints.relation.resources[0] ?? ""} value={value} />;
  const type = plainText(item["mime_type"]);
  const file = resource.supports.includes("files");
  if (file && type !== "" && !type.startsWith("image/")) {
    const kind = type.split("/")[0];
    return <Icon name={kind === "video" ? "video" : kind === "audio" ? "music" : "file"} size={28} />;
  }
  const address = pictureOf(file ? (smallPicture(item) ?? value) : value);
  if (address === null) return <Icon name={file ? "image" : "user"} size={24} />;
  return <img class="thumbnail" src={address} alt="" loading="lazy" decoding="async" />;
};

/** The picture of a record that another one refers to. */
function RelatedPicture({ resource: name, value }: { resource: string; value: unknown }): JSX.Element | null {
  const id = Array.isArray(value) ? value[0] : value;
  const target = findResource(name);
  const item = (typeof id === "number" && id !== 0) || typeof id === "string" ? related(name, id).value : null;
  const field = target?.view.default_view.mediaField;
  if (target === undefined || field === undefined || item === null || item === undefined) return null;
  return <>{Picture({ value: valueAt(item, field), item, field, resource: target, hints: {}, schema: {} })}</>;
}

const Url: Display = ({ value }) => {
  const address = plainText(value);
  if (!/^https?:\/\//i.test(address)) return cut(address);
  return (
    <a href={address} rel="noreferrer noopener" target="_blank" class="cell-link">
      {cut(address.replace(/^https?:\/\//i, ""))}
    </a>
  );
};

const Email: Display = ({ value }) => {
  const address = plainText(value);
  return /^[^\s@]+@[^\s@]+$/.test(address) ? (
    <a href={`mailto:${address}`} class="cell-link">
      {address}
    </a>
  ) : (
    cut(address)
  );
};

const Relation: Display = ({ value, hints }) => {
  const names = hints.relation?.resources ?? [];
  const ids = (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string" || (typeof id === "number" && id !== 0));
  if (ids.length === 0) return nothing();
  return (
    <span class="related">
      {ids.slice(0, MOST_ITEMS).map((id) => (
        <RelatedRecord key={id} resources={names} id={id} />
      ))}
      {ids.length > MOST_ITEMS && <span class="soft">{t("lists.more_values", { count: ids.length - MOST_ITEMS })}</span>}
    </span>
  );
};

function RelatedRecord({ resources: names, id }: { resources: readonly string[]; id: string | number }): JSX.Element {
  const found = relatedIn(names, id);
  if (found === null) return <span class="soft">#{id}</span>;
  if (found === undefined) return <span class="soft">…</span>;
  const { resource, item } = found;
  const text = labelOf(resource, item, (own) => t("lists.untitled", { id: own }));
  if (resource.operations["get"] === undefined) return <span>{text}</span>;
  return (
    <a href={href(places.item(resource.name, id))} class="cell-link">
      {text}
    </a>
  );
}

const List: Display = ({ value, hints, resource, field, schema, item }) => {
  const all = Array.isArray(value) ? value : isObject(value) ? Object.keys(value).filter((name) => value[name] !== false) : [value];
  const inner = schema.items ?? {};
  return (
    <span class="row">
      {all.slice(0, MOST_ITEMS).map((one, place) => (
        <span key={place} class="badge">
          {isObject(one) ? <Shown value={one} item={item} field={`${field}.${place}`} resource={resource} hints={{}} schema={inner} /> : labelOfItem(hints, one)}
        </span>
      ))}
      {all.length > MOST_ITEMS && <span class="soft">{t("lists.more_values", { count: all.length - MOST_ITEMS })}</span>}
    </span>
  );
};

function labelOfItem(hints: DisplayProps["hints"], value: unknown): string {
  return hints.labels?.[String(value)] ?? plainText(value);
}

const Code: Display = ({ value }) => <code>{cut(plainText(value))}</code>;

const Json: Display = ({ value }) => {
  const text = plainText(value);
  if (text !== "") return cut(text);
  return <code>{cut(JSON.stringify(value) ?? "")}</code>;
};

/** One row for each name in `choice.ts`. */
export const displays: Record<DisplayName, Display> = {
  text: Text,
  html: Html,
  boolean: YesNo,
  enum: Enum,
  state: StateBadge,
  "date-time": DateTime,
  date: DateOnly,
  timestamp: Timestamp,
  number: NumberText,
  bytes: Bytes,
  colour: Colour,
  image: Picture,
  url: Url,
  email: Email,
  relation: Relation,
  list: List,
  code: Code,
  json: Json,
};

/** A value as a list shows it. */
export function Shown(props: DisplayProps): JSX.Element {
  if (isNothing(props.value)) return nothing();
  const Chosen = displays[displayOf(props.resource, props.field, props.hints, props.schema)];
  return <>{Chosen(props)}</>;
}
