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

function readTargets({ type, edge, route }: CheckFlags): readonly Target[] {
  if ([type, edge, route].filter((each) => each !== undefined).length > 1)
    throw new CommandFault('give only one of --type, --edge and --route: what the address is to be tried against');
  if (edge !== undefined) return [{ edge_id: edge }];
  if (route !== undefined) return [{ route_id: route }];
  const chosen = types.filter((each) => type === undefined || each === type);
  return chosen.map((each) => ({ type: each }));
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

function draw(target: Target, { ip, allowed, explanation, checks }: IpCheckVerdict, paint: Paint): readonly string[] {
  const subject = target.type ?? target.edge_id ?? target.route_id ?? '';
  const verdict = allowed ? paint('green', 'allowed') : paint('red', 'refused');
  return [
    `${oneLine(subject)}: ${ip} is ${verdict}. ${oneLine(explanation)}`,
    ...checks.map(
      ({ kind, id, effect, reason }) => `  ${paint(colours[effect], effect)} ${kind} ${id}: ${oneLine(reason)}`,
    ),
  ];
}
