import type { OwnAnswer } from '../../modules/step.ts';
import { setCookies } from './cookies.ts';
import type { Visit } from './visit.ts';

/** A page for visitors: no script, no file from elsewhere, the id of the request, and what to do. */
export interface VisitorPage {
  readonly status: number;
  readonly title: string;
  /** Paragraphs. A text in back quotes is set as it is typed, one in asterisks stands out. */
  readonly text: readonly string[];
  readonly facts?: readonly (readonly [name: string, value: string])[];
  /** The first is the one to take. */
  readonly links?: readonly (readonly [text: string, href: string])[];
  /** A button that sends a form to this address. */
  readonly button?: readonly [text: string, action: string];
  /** Seconds after which the page goes to an address by itself. */
  readonly next?: readonly [seconds: number, href: string];
  readonly headers?: readonly string[];
  /** Cookies that it sets. */
  readonly cookies?: readonly string[];
}

const style = `:root{color-scheme:light dark;--text:#16191d;--text-2:#4b5563;--line:#d5dae1;--side:#f3f5f8;--raised:#fff;--fill:#1f5fd0;--on:#fff}
@media(prefers-color-scheme:dark){:root{--text:#eceff3;--text-2:#aeb7c2;--line:#39414c;--side:#14171b;--raised:#1c2026;--fill:#79a7ff;--on:#10151c}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;grid-template-rows:1fr auto;justify-items:center;padding:24px;background:var(--side);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{align-self:center;width:100%;max-width:480px;display:grid;gap:16px;padding:24px;border:1px solid var(--line);border-radius:10px;background:var(--raised)}
h1{margin:0;font-size:20px;line-height:1.3}p,dl{margin:0;color:var(--text-2);overflow-wrap:anywhere}b{color:var(--text)}dl{display:grid;grid-template-columns:auto 1fr;gap:4px 16px}dd{margin:0;color:var(--text)}
nav{display:flex;flex-wrap:wrap;gap:8px}form{display:contents}a,button{display:inline-block;padding:8px 14px;border:1px solid var(--line);border-radius:6px;background:none;color:var(--text);font:inherit;text-decoration:none;cursor:pointer}
nav>:first-child,nav>form:first-child>button{background:var(--fill);border-color:var(--fill);color:var(--on)}small{margin-top:16px;color:var(--text-2)}`;

export function renderPage(visit: Pick<Visit, 'operationId'>, page: VisitorPage): OwnAnswer {
  const { status, title, text, facts = [], links = [], button, next, headers = [], cookies = [] } = page;
  const operationId = visit.operationId();
  const buttons = [
    ...(button === undefined
      ? []
      : [`<form method="post" action="${escape(button[1])}"><button>${escape(button[0])}</button></form>`]),
    ...links.map(([words, href]) => `<a href="${escape(href)}">${escape(words)}</a>`),
  ];
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
${next === undefined ? '' : `<meta http-equiv="refresh" content="${next[0]};url=${escape(next[1])}">\n`}<title>${escape(title)}</title>
<style>${style}</style>
<main><h1>${escape(title)}</h1>
${text.map((paragraph) => `<p>${format(paragraph)}</p>`).join('\n')}
${facts.length === 0 ? '' : `<dl>${facts.map(([name, value]) => `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`).join('')}</dl>\n`}${buttons.length === 0 ? '' : `<nav>${buttons.join('')}</nav>\n`}</main>
<small>${status} · Request ${escape(operationId)} · guarded by Gatehouse</small>
</html>
`;
  return {
    login: 'none',
    status,
    headers: [
      'Content-Type',
      'text/html; charset=utf-8',
      'Cache-Control',
      'no-store',
      'Gatehouse-Operation-Id',
      operationId,
      'X-Content-Type-Options',
      'nosniff',
      'Referrer-Policy',
      'no-referrer',
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      ...headers,
      ...setCookies(cookies),
    ],
    body,
  };
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Marks are taken before texts are put in, which hold none of them: back quotes and asterisks of values are encoded. */
function format(paragraph: string): string {
  return paragraph
    .split(/(`[^`]*`|\*[^*]*\*)/)
    .map((part) => {
      if (part.startsWith('`') && part.length > 1) return `<code>${escape(part.slice(1, -1))}</code>`;
      return part.startsWith('*') && part.length > 1 ? `<b>${escape(part.slice(1, -1))}</b>` : escape(part);
    })
    .join('');
}

/** A value in a paragraph, without the marks of its format. */
export function plainText(value: string): string {
  return value.replaceAll(/[`*]/g, '');
}
