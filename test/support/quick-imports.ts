import { registerHooks } from 'node:module';
import type { ResolveFnOutput } from 'node:module';

/** What a name ends with that is a file as it stands, and what Node makes of such a file here. */
const formats = new Map([
  ['.ts', 'module-typescript'],
  ['.mjs', 'module'],
]);

/**
 * Finds modules by less work than Node, which looks for each file and for the `package.json` above it: a sixth of the time in
 * which tests load the program. What is not there is told by whoever reads it.
 */
export function findImportsQuickly(): void {
  const packages = new Map<string, ResolveFnOutput>();
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL, conditions } = context;
      if (parentURL === undefined) return next(specifier, context);
      const format = specifier.startsWith('.') ? formats.get(/\.\w+$/.exec(specifier)?.[0] ?? '') : undefined;
      if (format !== undefined) return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
      // A package finds others from its own folder.
      if (specifier.startsWith('.') || parentURL.includes('/node_modules/')) return next(specifier, context);
      const key = `${conditions.join()} ${specifier}`;
      const found = packages.get(key) ?? next(specifier, context);
      packages.set(key, { ...found, shortCircuit: true });
      return found;
    },
  });
}
