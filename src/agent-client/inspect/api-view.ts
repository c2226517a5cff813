import type { Exchange } from './exchange.ts';
import { showAnswer, showRequest } from './shown.ts';
import type { ShownMessage } from './shown.ts';

/** The name that the tunnel of a command has. */
export const tunnelName = 'command_line';
const nanosecondsInMs = 1e6;

/** An exchange in the form that programs know from the inspection API of such agents, with what is ours beside it. */
export async function toApi(exchange: Exchange): Promise<object> {
  const { id, visitor, startedAt, report, replayOf } = exchange;
  const shown = await showRequest(exchange);
  const answer = await showAnswer(exchange);
  const [method = '', uri = '', proto = ''] = shown.line.split(' ');
  const [answerProto = '', code = ''] = answer?.line.split(' ', 2) ?? [];
  return {
    uri: `/api/requests/http/${id}`,
    id,
    tunnel_name: tunnelName,
    remote_addr: visitor,
    start: startedAt.toISOString(),
    duration: report === undefined ? 0 : Math.round(report.ms * nanosecondsInMs),
    request: { method, proto, headers: toLists(shown.headers), uri, raw: toRaw(shown) },
    response:
      answer === undefined
        ? null
        : {
            status: answer.line.slice(answerProto.length + 1),
            status_code: Number(code),
            proto: answerProto,
            headers: toLists(answer.headers),
            raw: toRaw(answer),
          },
    is_open: report === undefined,
    is_whole: report?.isWhole ?? false,
    replay_of: replayOf?.id ?? null,
    is_edited: replayOf?.isEdited ?? false,
    request_body_bytes: shown.bytes,
    response_body_bytes: answer?.bytes ?? 0,
  };
}

function toLists(headers: readonly string[]): object {
  const lists = new Map<string, string[]>();
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [value]);
    else list.push(value);
  }
  return Object.fromEntries(lists);
}

function toRaw({ line, headers, text, kept }: ShownMessage): string {
  const lines = [line];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat([head, text === undefined ? kept : Buffer.from(text)]).toString('base64');
}
