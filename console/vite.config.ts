import { defineConfig } from "vitest/config";

/** What every screen uses. Menus and comboboxes come when they are opened. */
const SHARED = /node_modules\/(preact|@preact)\/|\/src\/(api\/|i18n\/(index|formats|en)|router|model\/(record|labels|list-states)\.|ui\/(?!open-menu|combobox))/;

export default defineConfig({
  // The server fills in where the console is (`console.path`), so that addresses of files are relative to the document's base.
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // The policy of the page allows no inline styles or scripts.
    cssCodeSplit: true,
    sourcemap: false,
    rolldownOptions: {
      output: {
        // Browsers fetch six files at once: what every screen uses is one file, so that the first list waits for none.
        codeSplitting: { groups: [{ name: "shared", test: SHARED }] },
      },
    },
  },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"], setupFiles: ["tests/setup.ts"] },
});
