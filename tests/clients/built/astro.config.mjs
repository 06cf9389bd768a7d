import { defineConfig } from 'astro/config';

export default defineConfig({ outDir: process.env.OUT, trailingSlash: 'always', telemetry: false });
