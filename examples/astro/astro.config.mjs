import node from '@astrojs/node';
import { defineConfig } from 'astro/config';

// Each page is made when it is asked for, so that a change is seen at once and previews need no build.
export default defineConfig({ output: 'server', adapter: node({ mode: 'standalone' }), trailingSlash: 'ignore' });
