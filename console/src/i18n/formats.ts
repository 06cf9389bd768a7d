/** Formats of `Intl`, each made once: making one costs as much as a row of a list. */

const made = new Map<string, unknown>();

export function formatOf<Format, Options extends object>(kind: new (tag: string, options: Options) => Format, tag: string, options: Options): Format {
  const key = `${kind.name} ${tag} ${JSON.stringify(options)}`;
  let format = made.get(key) as Format | undefined;
  if (format === undefined) {
    format = new kind(tag, options);
    made.set(key, format);
  }
  return format;
}
