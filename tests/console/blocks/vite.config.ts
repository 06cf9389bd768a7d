// Packs the script that writes the samples, so that Node can run it.
export default {
  build: {
    ssr: "../tests/console/blocks/markup.ts",
    target: "node20",
    emptyOutDir: true,
    rollupOptions: { output: { entryFileNames: "markup.mjs" } },
  },
  ssr: { noExternal: true },
};
