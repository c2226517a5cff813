import { ApiError } from '../../client/src/index.ts';
import type { TrafficPolicyCheckRequest, TrafficPolicyCheckVerdict } from '../../client/src/index.ts';
import type { Host } from '../command-line/host.ts';
import { oneLine } from '../lib/terminal-text.ts';
import { CommandFault, exitCodes } from './exit.ts';
import { painter, writeLines } from './output.ts';
import type { Colour, Paint } from './output.ts';
import { readText } from './read-text.ts';
import { findServer } from './server.ts';
import type { ServerFlags } from './server.ts';
import { formResult } from './show-result.ts';
import type { OutputFlags } from './show-result.ts';

interface PolicyFlags extends ServerFlags, OutputFlags {
  readonly method?: string;
  readonly visit?: string;
  readonly ip?: string;
  readonly region?: string;
  readonly header?: readonly string[];
  readonly var?: readonly string[];
  readonly responseStatus?: string;
  readonly responseHeader?: readonly string[];
  readonly exitCode?: boolean;
}

type Request = NonNullable<TrafficPolicyCheckRequest['request']>;

/** Shows whether a server takes a policy, and what would become of a visit. */
export async function runCheckPolicy(file: string, flags: PolicyFlags, host: Host): Promise<void> {
  const request = readRequest(flags);
  const policy = await readText(file, host.stdin);
  const { client } = await findServer(flags, host);
  const verdict = await client
    .call('TrafficPolicyCheck', { body: { policy, ...(request === undefined ? {} : { request }) } })
    .catch((error: unknown) => {
      throw faultOf(error, file);
    });
  if (flags.output === 'table' || (flags.output === undefined && flags.query === undefined && host.stdout.isTTY))
    writeLines(host, draw(verdict, painter(host)));
  else host.stdout.write(await formResult(verdict, flags, host));
  if (flags.exitCode === true && (verdict.verdict === 'refuses' || verdict.verdict === 'closes'))
    host.exitCode = exitCodes.found;
}

/** What is wrong with the policy is a fault of the file, and of no call. */
function faultOf(error: unknown, file: string): unknown {
  if (!(error instanceof ApiError) || !/_22\d\d$/.test(error.code)) return error;
  const [, line, column, text] = /^line (\d+), column (\d+): ([^]*)$/.exec(error.message) ?? [];
  if (line === undefined || column === undefined) return new CommandFault(`${file}: ${error.message}`);
  return new CommandFault(`${file}:${line}:${column}: ${text}`);
}

function readRequest(flags: PolicyFlags): Request | undefined {
  const { method, visit: url, ip, region, header, var: vars, responseStatus, responseHeader } = flags;
  const others = [method, region, header, vars, responseStatus, responseHeader, url, ip];
  if (others.every((each) => each === undefined)) return undefined;
  if (url === undefined || ip === undefined)
    throw new CommandFault('give --visit and --ip to describe a request; without them, only the text is checked');
  if (responseStatus === undefined && responseHeader !== undefined)
    throw new CommandFault('give --response-status beside --response-header');
  return {
    url,
    ip,
    ...(method === undefined ? {} : { method }),
    ...(region === undefined ? {} : { region }),
    ...(header === undefined ? {} : { headers: pairs(header, ':', '--header') }),
    ...(vars === undefined ? {} : { vars: pairs(vars, '=', '--var') }),
    ...(responseStatus === undefined
      ? {}
      : {
          response: {
            status_code: readStatus(responseStatus),
            headers: pairs(responseHeader ?? [], ':', '--response-header'),
          },
        }),
  };
}

function readStatus(text: string): number {
  if (!/^\d{3}$/.test(text)) throw new CommandFault(`--response-status is a number such as 200, not ${oneLine(text)}`);
  return Number(text);
}

function pairs(lines: readonly string[], mark: ':' | '=', flag: string): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(mark);
      const form = mark === ':' ? '"Name: value"' : 'name=value';
      if (at < 1)
        throw new CommandFault(`write ${flag} as ${form}; ${JSON.stringify(line)} has no name before a "${mark}"`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
    }),
  );
}

const colours: Readonly<Record<string, Colour>> = {
  true: 'green',
  matches: 'green',
  passes: 'green',
  valid: 'green',
  forwards: 'green',
  answers: 'green',
  refuses: 'red',
  closes: 'red',
  fault: 'red',
  depends: 'yellow',
};

function draw(verdict: TrafficPolicyCheckVerdict, paint: Paint): readonly string[] {
  const { rules, upstream, answer, depends_on: dependsOn } = verdict;
  const word = (text: string) => paint(colours[text] ?? 'grey', text.replaceAll('_', ' '));
  const headers = (list: NonNullable<typeof upstream>['headers']) =>
    list.map(({ name, value }) => `  ${oneLine(name)}: ${oneLine(value)}`);
  return [
    ...rules.flatMap((rule) => [
      `${rule.path}${rule.name === null ? '' : ` ${JSON.stringify(oneLine(rule.name))}`}: ${word(rule.result)}`,
      ...rule.expressions.map(
        ({ expression, result, reason }) =>
          `  ${word(result)}: ${oneLine(expression)}${reason === null ? '' : ` (${oneLine(reason)})`}`,
      ),
      ...rule.actions.map(({ type, result, effect }) => `  ${oneLine(type)} ${paintEffect(result, effect, paint)}`),
    ]),
    ...(verdict.is_cut ? ['More was run than is listed.'] : []),
    `${word(verdict.verdict)}: ${oneLine(verdict.explanation)}`,
    ...dependsOn.map((each) => `It depends on ${oneLine(each)}.`),
    ...(upstream === null ? [] : [`Upstream: ${oneLine(upstream.url)}`, ...headers(upstream.headers)]),
    ...(answer === null ? [] : [`Answer: ${answer.status_code}`, ...headers(answer.headers)]),
  ];
}

function paintEffect(result: string, effect: string, paint: Paint): string {
  const colour = colours[result];
  return colour === undefined || result === 'passes' ? oneLine(effect) : paint(colour, oneLine(effect));
}
