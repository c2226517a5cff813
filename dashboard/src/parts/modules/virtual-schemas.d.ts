/** Made from openapi.json by `schemas-plugin.ts`. */
declare module 'virtual:module-schemas' {
  type Entries = readonly (readonly [name: string, schema: import('./schema.ts').ObjectSchema])[];
  export const moduleSchemas: {
    readonly https_route: Entries;
    readonly https_edge: Entries;
    readonly tcp_edge: Entries;
    readonly tls_edge: Entries;
  };
}
