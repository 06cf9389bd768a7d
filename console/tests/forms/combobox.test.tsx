import { cleanup, render, screen } from "@testing-library/preact";
import { useState } from "preact/hooks";
import { afterEach, expect, it, vi } from "vitest";
import { Combobox, type Choice } from "../../src/ui/combobox";

afterEach(cleanup);

/** One key: the browser adds it to what the input shows. Microtasks run, the page is not painted. */
async function key(input: HTMLInputElement, letter: string): Promise<void> {
  input.value += letter;
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
  for (let turn = 0; turn < 20; turn += 1) {
    await Promise.resolve();
  }
}

it("keys that are pressed faster than the page is painted are all there", async () => {
  const search = vi.fn(async (): Promise<Choice[]> => []);
  const Shown = (): preact.JSX.Element => {
    const [value, setValue] = useState<Choice[]>([]);
    return <Combobox label="Place" value={value} onChange={setValue} multiple search={search} />;
  };
  render(<Shown />);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const input = screen.getByRole("combobox") as HTMLInputElement;
  input.focus();
  for (const letter of "Town Square") {
    await key(input, letter);
  }
  expect(input.value).toBe("Town Square");
  await vi.waitFor(() => expect(search).toHaveBeenLastCalledWith("Town Square", expect.anything()));
});
