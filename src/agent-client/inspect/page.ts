import { escapeHtml } from '../../lib/escape-html.ts';
import { maxBodyBytes, requestLineOf } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import { shortTarget, shownTarget } from './short-target.ts';
import { showAnswer, showRequest } from './shown.ts';
import type { ShownMessage } from './shown.ts';

/** What a page says beside the requests. */
export interface PageFacts {
  /** Address of the endpoint, or the labels; undefined before the first connection. */
  readonly address: string | undefined;
  readonly target: string;
  /** Proves that a form was sent by a page of ours. */
  readonly csrf: string;
}

/** Bytes of a body that is no text that are shown. */
const shownHex = 2048;
const hexLine = 16;
/** JSON of more levels is shown as it came: indented, it would be longer by the square of them. */
const deepestIndented = 20;

export function listPage(exchanges: readonly Exchange[], gaveUp: number, find: string, facts: PageFacts): string {
  const { address, target, csrf } = facts;
  const shown = exchanges.filter((exchange) => matches(exchange, find.toLowerCase()));
  const none = exchanges.length === 0 ? empty(address) : '<p class="soft">No request matches.</p>';
  const rows = shown.map(row).join('');
  const lost =
    gaveUp === 0
      ? ''
      : `<p class="soft">${gaveUp} ${gaveUp === 1 ? 'connection was' : 'connections were'} not HTTP/1, or no longer: passed on unchanged, and not recorded from there on.</p>`;
  return page(
    'Requests',
    `<header><div><h1>${address === undefined ? 'Not connected yet' : escapeHtml(address)}</h1>
<p class="soft">Requests to <code>${escapeHtml(target)}</code>, newest first. In memory only: gone when the agent ends. Secrets are masked.</p></div>
<button id="pause" type="button" hidden aria-pressed="false" aria-keyshortcuts="Space">Pause</button></header>
<form class="bar" method="get" action="/"><label>Find <input name="find" value="${escapeHtml(find)}" placeholder="Method, path or status"></label></form>
<div id="live">${rows === '' ? none : `<table><thead><tr><th scope="col">Time</th><th scope="col">Request</th><th scope="col" class="n">Status</th><th scope="col" class="n">ms</th><th scope="col" class="n">Body</th></tr></thead><tbody>${rows}</tbody></table>`}${lost}</div>
<form method="post" action="/clear"><input type="hidden" name="csrf" value="${csrf}"><button>Forget all</button></form>`,
  );
}

function empty(address: string | undefined): string {
  if (address?.startsWith('http') !== true) return '<p>No request yet.</p>';
  return `<p>No request yet. Send one: <code>curl ${escapeHtml(address)}</code></p>`;
}

function matches(exchange: Exchange, find: string): boolean {
  const { method } = requestLineOf(exchange.request);
  return `${method} ${shortTarget(exchange)} ${statusOf(exchange)}`.toLowerCase().includes(find);
}

function row(exchange: Exchange): string {
  const { id, startedAt, report, request, requestBytes, answerBytes } = exchange;
  const { method } = requestLineOf(request);
  return `<tr><td class="mono soft">${startedAt.toISOString().slice(11, 19)}</td>
<td class="path"><a class="mono" href="/requests/${id}"><span class="soft">${escapeHtml(method)}</span> ${escapeHtml(shortTarget(exchange))}</a> ${badges(exchange)}</td>
<td class="n mono${isFailed(exchange) ? ' bad' : ''}">${statusOf(exchange)}</td><td class="n mono">${report === undefined ? 'open' : Math.round(report.ms)}</td>
<td class="n mono">${formatBytes(requestBytes)} / ${formatBytes(answerBytes)}</td></tr>`;
}

function badges({ replayOf, report, requestKept, requestBytes, reply }: Exchange): string {
  const found: string[] = [];
  if (replayOf !== undefined) found.push(replayOf.isEdited ? 'Replay, edited' : 'Replay');
  if (report?.status === 101)
    found.push(/upgrade: *websocket/i.test(toText(reply?.headers)) ? 'WebSocket' : 'Upgraded');
  if (requestBytes > requestKept.length) found.push('Body not kept whole');
  if (report !== undefined && !report.isWhole) found.push('Cut off');
  return found.map((badge) => `<span class="badge">${badge}</span>`).join(' ');
}

function toText(headers: readonly string[] = []): string {
  return headers.map((text, at) => text + (at % 2 === 0 ? ': ' : '\n')).join('');
}

function statusOf({ report }: Exchange): string {
  return report === undefined ? '…' : String(report.status ?? 'none');
}

function isFailed({ report }: Exchange): boolean {
  return report !== undefined && (report.status === undefined || report.status >= 500);
}

export interface DetailOptions {
  readonly isEditing: boolean;
  /** Why the last replay was not sent. */
  readonly fault: string | undefined;
}

export async function detailPage(
  exchange: Exchange,
  { csrf }: PageFacts,
  { isEditing, fault }: DetailOptions,
): Promise<string> {
  const { id, startedAt, visitor, replayOf, report } = exchange;
  const request = await showRequest(exchange);
  const answer = await showAnswer(exchange);
  const [method = '', target = ''] = request.line.split(' ');
  const title = `${method} ${target.length > shownTarget ? `${target.slice(0, shownTarget)}…` : target}`;
  const from =
    replayOf === undefined
      ? `<code>${escapeHtml(visitor)}</code>`
      : `replay of <a href="/requests/${replayOf.id}">${replayOf.id}</a>`;
  const took = report === undefined ? 'under way' : `${statusOf(exchange)} in ${Math.round(report.ms)} ms`;
  return page(
    title,
    `<nav><a href="/" id="back">All requests</a></nav>
<header><div><h1 class="mono">${escapeHtml(title)}</h1><p>${took} ${badges(exchange)}</p><p class="soft">From ${from}, at ${startedAt.toISOString()}</p></div></header>
${fault === undefined ? '' : `<p role="alert" class="bad">${escapeHtml(fault)}</p>`}
${isEditing ? editForm(exchange, request, csrf) : replayForm(id, csrf)}
<h2>Request</h2>${message(request)}
<h2>Answer</h2>${answer === undefined ? '<p class="soft">None yet.</p>' : message(answer)}`,
  );
}

function replayForm(id: string, csrf: string): string {
  return `<form method="post" action="/requests/${id}/replay" class="bar"><input type="hidden" name="csrf" value="${csrf}">
<button id="replay" class="primary" aria-keyshortcuts="r">Replay</button> <a class="button" id="edit" href="/requests/${id}?edit=1" aria-keyshortcuts="Shift+r">Edit and replay</a>
<span class="soft">Masked values are sent as they came. The program sees <code>Gatehouse-Replay</code>; redirects are shown, not followed.</span></form>`;
}

function editForm({ id }: Exchange, { line, headers, text }: ShownMessage, csrf: string): string {
  const [method = '', target = ''] = line.split(' ');
  const lines: string[] = [];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  const body =
    text === undefined
      ? '<p class="soft">The body is no text: it is sent as it came.</p>'
      : `<label>Body <textarea class="mono" name="body" rows="10" spellcheck="false">\n${escapeHtml(text)}</textarea></label>`;
  return `<form method="post" action="/requests/${id}/replay" class="edit"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="edited" value="1">
<label>Method <input class="mono" name="method" value="${escapeHtml(method)}"></label>
<label>Path <input class="mono" name="target" value="${escapeHtml(target)}"></label>
<label>Headers, one on each line <textarea class="mono" name="headers" rows="${Math.min(20, lines.length + 2)}" spellcheck="false">\n${escapeHtml(lines.join('\n'))}</textarea></label>
${body}
<p class="soft">A header or path that you leave as it stands here is sent as it came, with what is masked. A body that you change is sent as it stands here: type its masked values. A signature of the body that was sent may not fit the changed one.</p>
<div class="bar"><button class="primary">Send 1 request</button> <a class="button" href="/requests/${id}">Discard</a></div></form>`;
}

function message({ headers, text, kept, bytes }: ShownMessage): string {
  const rows: string[] = [];
  for (let at = 0; at < headers.length; at += 2)
    rows.push(`<dt>${escapeHtml(headers[at] ?? '')}</dt><dd>${escapeHtml(headers[at + 1] ?? '')}</dd>`);
  const size = bytes === 0 ? 'No body' : `Body, ${formatBytes(bytes)}`;
  const cut = bytes > kept.length ? `, of which ${formatBytes(maxBodyBytes)} are kept` : '';
  const shown =
    bytes === 0
      ? ''
      : `<pre class="mono" tabindex="0">${escapeHtml(text === undefined ? toHex(kept) : pretty(text))}</pre>`;
  return `<dl class="mono">${rows.join('')}</dl><h3>${size}${cut}</h3>${shown}`;
}

/** Indents JSON where nothing of it is lost by reading it, as long numbers would be. */
function pretty(text: string): string {
  if (!/^[{[]/.test(text) || isDeep(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

/** True also for some texts with many brackets in strings. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (depth > deepestIndented) return true;
  }
  return false;
}

function toHex(bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, shownHex); at += hexLine) {
    const part = bytes.subarray(at, at + hexLine);
    const hex = [...part].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    lines.push(
      `${at.toString(16).padStart(6, '0')}  ${hex.padEnd(hexLine * 3)} ${part.toString('latin1').replaceAll(/[^\x20-\x7e]/g, '.')}`,
    );
  }
  if (bytes.length > shownHex) lines.push('…');
  return lines.join('\n');
}

function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function messagePage(title: string, text: string): string {
  return page(title, `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p><p><a href="/">All requests</a></p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)} · Gatehouse agent</title>
<link rel="stylesheet" href="/style.css"><script src="/script.js" defer></script></head>
<body><main>${body}</main></body>
</html>
`;
}
