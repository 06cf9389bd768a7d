import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Editor } from "../../src/editor";
import { insertions } from "../../src/editor/insert";
import { Content } from "../../src/editor/read";
import type { Session } from "../../src/editor/session";
import type { EditorHandle, EditorProps } from "../../src/editor/types";

const TEXT = '<!-- wp:paragraph -->\n<p>One</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:html -->\n<img src=x onerror="globalThis.ran = 1"><script>globalThis.ran = 2</script>\n<!-- /wp:html -->\n';

function mounted(more: Partial<EditorProps> = {}) {
  let handle: EditorHandle | null = null;
  const onChange = vi.fn();
  const props: EditorProps = { value: TEXT, onChange, label: "Content", handle: (given) => (handle = given), ...more };
  const result = render(<Editor {...props} />);
  return { ...result, props, onChange, handle: () => handle as unknown as EditorHandle };
}

afterEach(cleanup);

describe("the editor", () => {
  it("shows a text box with a name, and a toolbar with one stop", () => {
    mounted({ describedBy: "help", invalid: true });
    const box = screen.getByRole("textbox", { name: "Content" });
    expect(box.getAttribute("aria-describedby")).toBe("help");
    expect(box.getAttribute("aria-invalid")).toBe("true");
    expect(box.textContent).toContain("One");
    const bar = screen.getByRole("toolbar");
    expect(Array.from(bar.querySelectorAll("button")).filter((button) => button.tabIndex === 0)).toHaveLength(1);
  });

  it("leaves the focus where a key moves it after a command", async () => {
    mounted();
    fireEvent.click(screen.getByRole("button", { name: "Bold" }));
    const source = screen.getByRole("button", { name: "Source" });
    fireEvent.keyDown(document.body, { key: "Tab" });
    source.focus();
    for (let frame = 0; frame < 5; frame++) await new Promise((done) => requestAnimationFrame(done));
    expect(document.activeElement).toBe(source);
  });

  it("gives content back that nobody changed, and says nothing", () => {
    const { handle, onChange, unmount } = mounted();
    expect(handle().value()).toBe(TEXT);
    unmount();
    expect(onChange).not.toHaveBeenCalled();
  });

  it("shows foreign markup as text", () => {
    const { container } = mounted();
    expect(container.querySelector("script, img")).toBe(null);
    expect(container.textContent).toContain("<script>");
    expect((globalThis as { ran?: number }).ran).toBe(undefined);
  });

  it("has a source view, and shows what was changed there", async () => {
    const { handle, onChange } = mounted();
    fireEvent.click(screen.getByRole("button", { name: "Source" }));
    const area = screen.getByRole("textbox", { name: /Content: Source/ }) as HTMLTextAreaElement;
    expect(area.value).toBe(TEXT);
    fireEvent.input(area, { target: { value: TEXT.replace("One", "Two") } });
    expect(onChange).toHaveBeenLastCalledWith(TEXT.replace("One", "Two"));
    expect(handle().value()).toBe(TEXT.replace("One", "Two"));
    fireEvent.click(screen.getByRole("button", { name: "Source" }));
    await waitFor(() => expect(screen.getByRole("textbox", { name: "Content" }).textContent).toContain("Two"));
    expect(handle().value()).toBe(TEXT.replace("One", "Two"));
  });

  it("follows a value from outside, but not one of its own that comes back late", async () => {
    const { rerender, props, handle } = mounted();
    rerender(<Editor {...props} value={TEXT.replace("One", "Else")} />);
    await waitFor(() => expect(handle().value()).toBe(TEXT.replace("One", "Else")));
    fireEvent.click(screen.getByRole("button", { name: "Source" }));
    const area = screen.getByRole("textbox", { name: /Content: Source/ });
    const [first, second] = [TEXT.replace("One", "A"), TEXT.replace("One", "AB")];
    fireEvent.input(area, { target: { value: first } });
    fireEvent.input(area, { target: { value: second } });
    rerender(<Editor {...props} value={first} />);
    expect(handle().value()).toBe(second);
    rerender(<Editor {...props} value={second} />);
    expect(handle().value()).toBe(second);
  });

  it("is locked where it may only be read", () => {
    mounted({ readOnly: true });
    const box = screen.getByRole("textbox", { name: "Content" });
    expect(box.getAttribute("contenteditable")).toBe("false");
    expect(box.getAttribute("aria-readonly")).toBe("true");
    expect(screen.getByRole("button", { name: "Bold" }).getAttribute("aria-disabled")).toBe("true");
  });

  it("offers only what the form gives and the content may have", () => {
    const offered = (text: string, more: Partial<EditorProps>) => {
      const session = { view: { state: { doc: Content.read(text).doc } } } as unknown as Session;
      return insertions(session, { value: "", onChange: () => undefined, label: "", ...more }).map(({ name }) => name);
    };
    expect(offered("", {})).not.toContain("image");
    expect(offered("", { picture: { pick: () => Promise.resolve([]) } })).toContain("gallery");
    expect(offered("", {})).toContain("columns-2");
    expect(offered("classic", { reusable: { search: () => Promise.resolve([]), load: () => Promise.resolve(null) } })).not.toContain("columns-2");
    expect(offered("classic", {})).toContain("table");
  });
});
