import type { GatehouseClient, IpCheckRequest, IpCheckVerdict } from '../../client/src/index.ts';
import type { Host } from '../command-line/host.ts';
import { CommandFault, exitCodes } from './exit.ts';
import { painter, writeLines } from './output.ts';
import type { Colour, Paint } from './output.ts';
import { findServer } from './server.ts';
import type { ServerFlags } from './server.ts';
import { formResult } from './show-result.ts';
import type { OutputFlags } from './show-result.ts';
import { oneLine } from '../lib/terminal-text.ts';

interface CheckFlags extends ServerFlags, OutputFlags {
  readonly type?: string;
  readonly edge?: string;
  readonly route?: string;
  readonly email?: string;
  readonly group?: readonly string[];
  readonly path?: string;
  readonly method?: string;
  readonly header?: readonly string[];
  readonly certificateOf?: string;
  readonly exitCode?: boolean;
}

type RestrictionType = NonNullable<IpCheckRequest['type']>;

const types: readonly RestrictionType[] = ['api', 'dashboard', 'agent', 'endpoints'];

/** Shows what the API says about an address. */
export async function runCheckIp(ip: string, flags: CheckFlags, host: Host): Promise<void> {
  const targets = readTargets(flags);
  const { client } = await findServer(flags, host);
  const verdicts = await askAll(client, ip, targets);
  const [only] = verdicts;
  if (flags.output === 'table' || (flags.output === undefined && flags.query === undefined && host.stdout.isTTY))
    writeLines(
      host,
      verdicts.flatMap((verdict, at) => draw(targets[at] ?? {}, verdict, painter(host))),
    );
  else host.stdout.write(await formResult(targets.length === 1 ? only : byType(targets, verdicts), flags, host));
  if (flags.exitCode === true && verdicts.some(({ allowed }) => !allowed)) host.exitCode = exitCodes.found;
}

type Target = Omit<IpCheckRequest, 'ip'>;

function readTargets(flags: CheckFlags): readonly Target[] {
  const { type, edge, route } = flags;
  const described = readVisitor(flags);
  if (edge !== undefined || route !== undefined) {
    if (type !== undefined)
      throw new CommandFault('give either --type, or --edge, --route or both: what the address is to be tried against');
    return [
      {
        ...(edge === undefined ? {} : { edge_id: edge }),
        ...(route === undefined ? {} : { route_id: route }),
        ...described,
      },
    ];
  }
  const [first] = Object.keys(described);
  if (first !== undefined)
    throw new CommandFault(
      'give --edge or --route beside --email, --group, --path, --method, --header and --certificate-of: visitors come there',
    );
  const chosen = types.filter((each) => type === undefined || each === type);
  return chosen.map((each) => ({ type: each }));
}

/** Reads what the flags say of a visitor beside the address. */
function readVisitor({ email, group, path, method, header, certificateOf }: CheckFlags): Target {
  const visitor = { ...(email === undefined ? {} : { email }), groups: [...(group ?? [])] };
  return {
    ...(email === undefined && group === undefined ? {} : { visitor }),
    ...(path === undefined ? {} : { path }),
    ...(method === undefined ? {} : { method }),
    ...(header === undefined ? {} : { headers: Object.fromEntries(header.map(readHeader)) }),
    ...(certificateOf === undefined
      ? {}
      : { certificate: certificateOf === 'none' ? {} : { authority_id: certificateOf } }),
  };
}

function readHeader(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon < 1)
    throw new CommandFault(`write --header as "Name: value"; ${JSON.stringify(line)} has no name before a ":"`);
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

async function askAll(
  client: GatehouseClient,
  ip: string,
  targets: readonly Target[],
): Promise<readonly IpCheckVerdict[]> {
  const verdicts: IpCheckVerdict[] = [];
  for (const target of targets) verdicts.push(await client.call('IpCheck', { body: { ip, ...target } }));
  return verdicts;
}

function byType(targets: readonly Target[], verdicts: readonly IpCheckVerdict[]): readonly object[] {
  return verdicts.map((verdict, at) => ({ type: targets[at]?.type, ...verdict }));
}

const colours: Readonly<Record<IpCheckVerdict['checks'][number]['effect'], Colour>> = {
  allows: 'green',
  refuses: 'red',
  warns: 'yellow',
  off: 'grey',
};

function draw(target: Target, verdict: IpCheckVerdict, paint: Paint): readonly string[] {
  const subject = target.type ?? target.route_id ?? target.edge_id ?? '';
  const { ip, explanation, checks, routes } = verdict;
  return [
    `${oneLine(subject)}: ${ip} is ${word(verdict, paint)}. ${oneLine(explanation)}`,
    ...checks.map((check) => `  ${drawCheck(check, paint)}`),
    ...(routes ?? []).flatMap((route) => [
      `  ${oneLine(route.match)}: ${word(route, paint)}. ${oneLine(route.explanation)}`,
      ...route.checks.map((check) => `    ${drawCheck(check, paint)}`),
    ]),
  ];
}

/** The verdict in one word or few: an address that is let through gets nobody in where more is asked for. */
function word({ allowed, further_checks: further }: Pick<IpCheckVerdict, 'allowed' | 'further_checks'>, paint: Paint) {
  if (!allowed) return paint('red', 'refused');
  return further.some(({ asks }) => asks !== null)
    ? paint('yellow', 'allowed, but more is asked for')
    : paint('green', 'allowed');
}

function drawCheck({ kind, id, effect, reason }: IpCheckVerdict['checks'][number], paint: Paint): string {
  return `${paint(colours[effect], effect)} ${kind} ${id}: ${oneLine(reason)}`;
}
