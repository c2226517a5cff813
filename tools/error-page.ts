import { errorCatalog } from './error-catalog.ts';
import { retiredNumbers } from './retired-numbers.ts';

/** Those below are of the hosted service, which has one for several states. */
const firstOwn = 20_000;

/** Returns docs/errors.md. Throws if an error does not have the number that it has on the page as it was, or that of another one. */
export function errorPage(page: string): string {
  const numbers = new Set(errorCatalog.map(({ code }) => code));
  const gone = numbersOn(page).filter((number) => !numbers.has(number) && !retiredNumbers.includes(number));
  if (gone.length > 0) {
    throw new Error(`no error has the number ${gone.join(', ')}: give it back, or add it to tools/retired-numbers.ts`);
  }
  const again = retiredNumbers.filter((number) => numbers.has(number));
  if (again.length > 0) throw new Error(`the number ${again.join(', ')} is that of an error of the past: write 0`);
  const twice = errorCatalog.filter(({ code }, at) => code >= firstOwn && errorCatalog[at - 1]?.code === code);
  if (twice.length > 0) throw new Error(`two errors have the number ${twice[0]?.code}: write 0 for the newer one`);
  const rows = errorCatalog.map(
    ({ code, status, message }) => `| ${code} | ${status} | ${message.replaceAll('|', '\\|')} |`,
  );
  return `# Errors

Every error the service can answer. The API writes the number behind \`ERR_GATEHOUSE_\` (or \`ERR_<VENDOR>_\`, see the
setting \`vendor\`) in \`error_code\`; the gateway writes it in the header \`Gatehouse-Error-Code\` too. Words in braces
are filled in. Generated from the definitions in the code by \`npm run generate\`.

| number | status | message |
|---|---|---|
${rows.join('\n')}
`;
}

function numbersOn(page: string): readonly number[] {
  return [...page.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
}
