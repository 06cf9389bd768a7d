import { defineConfig } from 'astro/config';

export default defineConfig({ site: 'https://front.example', telemetry: false });
