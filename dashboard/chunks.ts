import type { Plugin } from 'vite';

const shared = 'shared';

/**
 * The first script, `src/main.ts`, stays small, so that it runs before the large one is read. What every page needs is one
 * chunk: many small ones wait for each other. What pages of resources need besides is another.
 */
export const chunks = [
  {
    name: 'first',
    test: /\/dashboard\/src\/(?:app\/pages|api\/early-calls|api\/page-size)\.ts$|preload-helper/,
    priority: 2,
  },
  {
    name: shared,
    test: /\/node_modules\/|\/client\/src\/|\/dashboard\/src\/(?:api|app|components|lib)\//,
    priority: 1,
  },
  { name: 'resource', test: /\/dashboard\/src\/resource\//, priority: 1 },
];

/** Lets the browser load the shared chunk beside the first script, which imports it only when it runs. */
export function preloadShared(): Plugin {
  return {
    name: 'preload-shared',
    transformIndexHtml: {
      order: 'post',
      handler: (_, { bundle = {} }) =>
        Object.values(bundle)
          .filter((file) => file.type === 'chunk' && file.name === shared)
          .map(({ fileName }) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/dashboard/${fileName}` },
            injectTo: 'head',
          })),
    },
  };
}
