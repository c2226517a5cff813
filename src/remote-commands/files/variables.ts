type Environment = Readonly<Record<string, string | undefined>>;

const reference = /\$(\$\{)|\$\{([^}]*)\}/g;
const form = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/** Fills in `${VAR}` and `${VAR:-default}`; `$${` stands for `${`. Throws what is wrong, in words. */
export function fillVariables(text: string, environment: Environment): string {
  return text.replaceAll(reference, (whole, escaped: string | undefined, inner: string | undefined) => {
    if (escaped !== undefined) return escaped;
    const [, name = '', fallback] = form.exec(inner ?? '') ?? [];
    if (name === '')
      throw new Error(`${whole} is not a variable: write \${NAME} or \${NAME:-default}, or $\${ for the text`);
    const value = environment[name] || fallback;
    if (value === undefined)
      throw new Error(`the variable ${name} is not set. Set it, or give a default: \${${name}:-…}`);
    return value;
  });
}

/** The text in the form that `fillVariables` turns back into it. */
export function escapeVariables(text: string): string {
  // In a text, "$$" would stand for one "$".
  return text.replaceAll('${', () => '$${');
}
