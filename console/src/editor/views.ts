/**
 * How kinds of nodes look that are more than an element: figures, cards, sources.
 *
 * Every text goes in as text. Nothing of the content is parsed by the page, and nothing is asked from elsewhere but pictures.
 */
import type { Node } from "prosemirror-model";
import type { NodeView } from "prosemirror-view";
import { t } from "../i18n";
import { nameOf } from "./kind";
import { alignment } from "./looks";
import { attrsOf } from "./schema";

export function element<K extends keyof HTMLElementTagNameMap>(name: K, kind: string, text?: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (kind !== "") made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

export function show(dom: HTMLElement, node: Node): void {
  dom.dataset["kind"] = node.type.name;
  const align = alignment(attrsOf(node).tag ?? "");
  if (align === null) delete dom.dataset["align"];
  else dom.dataset["align"] = align;
}

/** A view that is drawn again when the attributes of its node change. */
export abstract class View implements NodeView {
  abstract readonly dom: HTMLElement;
  protected node: Node;

  constructor(node: Node) {
    this.node = node;
  }

  protected abstract draw(): void;

  update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    const same = node.hasMarkup(this.node.type, this.node.attrs);
    this.node = node;
    if (!same) {
      show(this.dom, node);
      this.draw();
    }
    return true;
  }
}

/** A figure whose inside is its caption. */
export abstract class Figure extends View {
  readonly dom: HTMLElement = element("figure", "");
  readonly contentDOM: HTMLElement = element("figcaption", "");
  protected readonly body: HTMLElement = element("div", "editor-figure");

  constructor(node: Node) {
    super(node);
    this.body.contentEditable = "false";
    this.contentDOM.dataset["placeholder"] = t("editor.caption");
    this.dom.append(this.body, this.contentDOM);
    this.contentDOM.classList.toggle("editor-empty", node.childCount === 0);
    show(this.dom, node);
  }

  override update(node: Node): boolean {
    if (!super.update(node)) return false;
    this.contentDOM.classList.toggle("editor-empty", node.childCount === 0);
    return true;
  }

  selectNode(): void {
    this.dom.classList.add("ProseMirror-selectednode");
  }

  deselectNode(): void {
    this.dom.classList.remove("ProseMirror-selectednode");
  }

  ignoreMutation(mutation: { type: string; target: globalThis.Node }): boolean {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }
}

/** A card for what is shown elsewhere: what it is, and where. */
export class CardView extends Figure {
  private readonly texts: (node: Node) => [string, string];

  constructor(node: Node, texts: (node: Node) => [string, string]) {
    super(node);
    this.texts = texts;
    this.body.classList.add("editor-card");
    this.draw();
  }

  protected draw(): void {
    const [name, detail] = this.texts(this.node);
    this.body.replaceChildren(element("strong", "", name), element("span", "editor-card-detail", detail));
  }
}

/** Text of a source that is shown. */
const MOST = 4000;

/** The name of an object and its source. */
export function nameAndSource(node: Node): HTMLElement[] {
  const name = element("span", "editor-object-name", nameOf(node));
  const source = node.attrs["source"] as string;
  return source.trim() === "" ? [name] : [name, element("pre", "editor-object-source", source.length > MOST ? `${source.slice(0, MOST)}…` : source)];
}

/** An object that cannot be typed in: its name, or what `body` makes. */
export class ObjectView extends View {
  readonly dom = element("div", "editor-object");
  private readonly body: (node: Node) => HTMLElement[];
  private readonly gone: () => void;

  /** `gone` is called when the object goes. */
  constructor(node: Node, body = (shown: Node) => [element("span", "editor-object-name", nameOf(shown))], gone = () => {}) {
    super(node);
    this.body = body;
    this.gone = gone;
    show(this.dom, node);
    this.draw();
  }

  protected draw(): void {
    this.dom.replaceChildren(...this.body(this.node));
  }

  destroy(): void {
    this.gone();
  }

  stopEvent(): boolean {
    return false;
  }

  ignoreMutation(): boolean {
    return true;
  }
}
