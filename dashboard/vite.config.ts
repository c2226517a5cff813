import { fileURLToPath } from 'node:url';

import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

import { chunks, preloadShared } from './chunks.ts';
import { moduleSchemas } from './schemas-plugin.ts';

/** A Gatehouse that `npm run dev:dashboard` shows; started by hand. */
const server = process.env['GATEHOUSE_URL'] ?? 'http://127.0.0.1:4040';

const config = defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/dashboard/',
  plugins: [react(), moduleSchemas(), preloadShared()],
  build: {
    target: 'es2023',
    // A script or style in a data: URL would be refused by the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // A busy machine would get advice about plugins in the middle of an installation.
    rolldownOptions: { checks: { pluginTimings: false }, output: { codeSplitting: { groups: chunks } } },
  },
  worker: { format: 'es' },
  server: {
    proxy: {
      '^/dashboard/session': server,
      '^/(?!dashboard)': server,
    },
  },
});

// oxlint-disable-next-line import/no-default-export -- vite reads the default export
export default config;
