import { concealSecrets } from '../../modules/index.ts';

/** A document of the log as admins see it. */
export function withoutSecrets(document: object): object {
  // Documents of edges and routes have modules.
  const { modules }: { readonly modules?: Readonly<Record<string, unknown>> } = document;
  return modules === undefined ? document : { ...document, modules: concealSecrets(modules) };
}
