/**
 * What the content editor is given and what it gives back.
 *
 * It knows no address and no resource: pictures, links and reusable pieces come from functions that the form passes in.
 * A function that is absent takes its button away.
 */

/** A picture that may be put into the text. */
export interface Picture {
  /** Its number on the server; becomes `wp-image-{id}`. */
  id?: number;
  url: string;
  alt?: string;
  /** HTML or plain text; only its text is used. */
  caption?: string;
  width?: number;
  height?: number;
  /** Sizes by name, such as "large"; the editor prefers "large". */
  sizes?: Record<string, { url: string; width?: number; height?: number }>;
}

/** Another file that may be put into the text: it becomes a picture, a player or a link to download, by its type. */
export interface FileItem {
  id?: number;
  url: string;
  name: string;
  mime: string;
}

export interface Pictures {
  /** Lets the person choose from the library; an empty list when they close it. */
  pick?(options: { many: boolean }): Promise<Picture[]>;
  /** Sends a file; `progress` gets numbers from 0 to 1. Rejects with an `Error` whose message may be shown. */
  upload?(file: File, progress: (part: number) => void, signal: AbortSignal): Promise<Picture>;
  /** Copies an image of another site into the library. */
  copy?(address: string): Promise<Picture>;
}

export interface Files {
  /** `types`: first parts of MIME types, such as "video"; none: any. */
  pick?(options: { types: readonly string[] }): Promise<FileItem | null>;
  upload?(file: File, progress: (part: number) => void, signal: AbortSignal): Promise<FileItem>;
}

/** An address that a link may lead to. */
export interface LinkTarget {
  url: string;
  title: string;
  /** Shown beside the title, such as the kind of record. */
  hint?: string;
}

export interface Links {
  search(text: string, signal: AbortSignal): Promise<LinkTarget[]>;
}

/** A piece of content that several records share. */
export interface ReusablePiece {
  id: number;
  title: string;
}

export interface ReusablePieces {
  search(text: string, signal: AbortSignal): Promise<ReusablePiece[]>;
  /** `null` when it is gone or may not be read. */
  load(id: number, signal: AbortSignal): Promise<ReusablePiece | null>;
}

/** A colour that the site has a name for: contents have the name, and pages decide how it looks. */
export interface NamedColour {
  slug: string;
  name: string;
  /** How the editor shows it: a value of CSS. */
  colour: string;
}

/** What a form may ask of a mounted editor. */
export interface EditorHandle {
  /** The content as it is now. What was typed a moment ago is in it, too; `onChange` has run with it when this returns. */
  value(): string;
  focus(): void;
}

export interface EditorProps {
  /** The raw content. A value that differs from the last one that `onChange` was called with replaces what is shown. */
  value: string;
  /**
   * Called a moment after the last key, when the focus leaves, and by `EditorHandle.value`, and only where the content
   * differs from before. Content that nobody changed comes back byte for byte.
   */
  onChange(value: string): void;
  /** Called with the first key after a quiet moment, before the content is known: for "not saved yet". */
  onTyping?(): void;
  /** Name of the text box for assistive technology. */
  label: string;
  /** `id` of an element that describes the text box, such as a message of the server. */
  describedBy?: string;
  invalid?: boolean;
  readOnly?: boolean;
  placeholder?: string;
  /** `unfilteredHtml`: the person may write any HTML; without it the editor says that the server will clean up. */
  capabilities?: { unfilteredHtml?: boolean };
  /** Address of the site: its pictures are shown. */
  site?: string;
  /** Named colours of the site. */
  palette?: readonly NamedColour[];
  picture?: Pictures;
  file?: Files;
  link?: Links;
  reusable?: ReusablePieces;
  /** Gets the handle when the editor is there, and null when it goes. */
  handle?(handle: EditorHandle | null): void;
}
