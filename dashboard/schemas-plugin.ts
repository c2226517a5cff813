import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Plugin } from 'vite';

const name = 'virtual:module-schemas';
const document = fileURLToPath(new URL('../openapi.json', import.meta.url));

interface OpenApi {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, { $ref?: string }>> }>>;
  };
}

/**
 * Gives the browser the schemas of modules, by what they are set on, in the order in which traffic meets them. The rest
 * of openapi.json is a megabyte that no page needs.
 */
export function moduleSchemas(): Plugin {
  return {
    name: 'module-schemas',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      this.addWatchFile(document);
      // The file is made by `npm run generate`, which writes this form.
      const { components } = JSON.parse(readFileSync(document, 'utf8')) as OpenApi;
      const modulesOf = (update: string): readonly (readonly [string, unknown])[] =>
        Object.entries(components.schemas[update]?.properties ?? {}).flatMap(([field, { $ref = '' }]) =>
          $ref.endsWith('ModuleReplace') ? [[field, components.schemas[$ref.split('/').at(-1) ?? '']] as const] : [],
        );
      const schemas = {
        https_route: modulesOf('HttpsEdgeRouteUpdate'),
        https_edge: modulesOf('HttpsEdgeUpdate'),
        tcp_edge: modulesOf('TcpEdgeUpdate'),
        tls_edge: modulesOf('TlsEdgeUpdate'),
      };
      return `export const moduleSchemas = ${JSON.stringify(schemas)};`;
    },
  };
}
