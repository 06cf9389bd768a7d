import { defineConfig } from "vitest/config";

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
  },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"] },
});
