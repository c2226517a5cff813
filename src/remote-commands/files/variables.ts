type Environment = Readonly<Record<string, string | undefined>>;

/** Gives the value of a variable that a file names. Throws, in words, where files may not have it. */
export type Lookup = (name: string) => string | undefined;

/** Names of variables that hold settings and secrets of Gatehouse itself. */
const ownPrefix = 'GATEHOUSE_';
const form = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
/** Also takes what has no end, up to the end of the text: it is looked at once. */
const reference = /\$(\$\{)|\$\{([^}]*)(\}?)/g;

/**
 * The variables that files may name, which may be those of strangers: never Gatehouse's own, such as the token, and where
 * `allowed` is given (names with commas between them) or the command runs in CI, only those that are named.
 */
export function fileVariables(environment: Environment, allowed?: string): Lookup {
  const isCi = !['', 'false', '0'].includes(environment['CI'] ?? '');
  const given = allowed ?? (isCi ? '' : undefined);
  const names = given === undefined ? undefined : new Set(given.split(',').map((name) => name.trim()));
  return (name) => {
    if (name.toUpperCase().startsWith(ownPrefix))
      throw new Error(`the variable ${name} is one of Gatehouse itself, which files never get: choose another name`);
    if (names !== undefined && !names.has(name))
      throw new Error(
        `the variable ${name} is not one that files may have${allowed === undefined ? ' in CI' : ''}. ` +
          `If this file may have it: --variables ${name}`,
      );
    return environment[name];
  };
}

/** Fills in `${VAR}` and `${VAR:-default}`; `$${` stands for `${`. Throws what is wrong, in words. */
export function fillVariables(text: string, lookup: Lookup): string {
  return text.replaceAll(
    reference,
    (whole, escaped: string | undefined, inner: string | undefined, end: string | undefined) => {
      if (escaped !== undefined) return escaped;
      if (end === '') return whole.replaceAll('$${', () => '${');
      const [, name = '', fallback] = form.exec(inner ?? '') ?? [];
      if (name === '')
        throw new Error(`${whole} is not a variable: write \${NAME} or \${NAME:-default}, or $\${ for the text`);
      const value = lookup(name) || fallback;
      if (value === undefined)
        throw new Error(`the variable ${name} is not set. Set it, or give a default: \${${name}:-…}`);
      return value;
    },
  );
}

/** The text in the form that `fillVariables` turns back into it. */
export function escapeVariables(text: string): string {
  // In a text, "$$" would stand for one "$".
  return text.replaceAll('${', () => '$${');
}
