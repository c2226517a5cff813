import { readFile } from 'node:fs/promises';
import { isatty } from 'node:tty';

import { Agent, usualTimes } from '../agent-client/agent.ts';
import type { ServerAddress } from '../agent-client/connect-server.ts';
import { exitCodes, toExit } from '../agent-client/exit.ts';
import { firstInspectPort, openInspection, parseInspect } from '../agent-client/inspect/open-inspection.ts';
import type { InspectAddress } from '../agent-client/inspect/open-inspection.ts';
import { RecentExchanges } from '../agent-client/inspect/recent-exchanges.ts';
import { Replays } from '../agent-client/inspect/replay.ts';
import { JsonReporter } from '../agent-client/output/json-reporter.ts';
import { LineOutput } from '../agent-client/output/line-output.ts';
import { ScreenReporter } from '../agent-client/output/screen-reporter.ts';
import { TextReporter } from '../agent-client/output/text-reporter.ts';
import { parseFingerprint } from '../agent-client/pinned-authority.ts';
import { planTunnel } from '../agent-client/plan.ts';
import type { TunnelFlags } from '../agent-client/plan.ts';
import { readPrivateFile } from '../lib/private-file.ts';
import type { Reporter } from '../agent-client/reporter.ts';
import { readSettingsFile, settingsPath } from '../agent-client/settings-file.ts';
import type { FileSettings } from '../agent-client/settings-file.ts';
import type { TunnelPlan } from '../agent-client/sign-in.ts';
import { UsageFault } from '../agent-client/target.ts';
import type { TunnelKind } from '../agent-client/target.ts';
import { agentVariables } from '../config/agent-variables.ts';
import { findProfile } from '../config/profiles.ts';
import type { AgentAccess } from '../config/profiles.ts';
import { remoteVariables } from '../config/remote-variables.ts';
import { parseHostPort } from '../lib/host-port.ts';
import { explain } from './explain.ts';
import { isInForeground } from './foreground.ts';
import type { Host } from './host.ts';

export interface AgentFlags extends TunnelFlags {
  readonly server?: string;
  readonly ca?: string;
  readonly fingerprint?: string;
  readonly profile?: string;
  readonly basicAuthFile?: string;
  readonly inspect?: string;
  readonly log?: 'text' | 'json';
}

/** `npx` passes Ctrl-C on, which the terminal has sent to this process too: what comes so soon is the same one. */
const sameSignalMs = 500;
const standardOut = 1;
const standardError = 2;
const defaultServer = '127.0.0.1:4443';

/** Runs an agent until it ends. Rejects with a `UsageFault` if it cannot start. */
export async function runAgent(
  kind: TunnelKind,
  target: string,
  flags: AgentFlags,
  version: string,
  host: Host,
): Promise<void> {
  const path = settingsPath(host.env);
  const file = await readSettingsFile(path);
  const plan = planTunnel(kind, target, flags, await readBasicAuth(flags, host));
  const own = host.env[agentVariables.authtoken] || file.authtoken;
  // The token of a profile goes with its server and authority, or not at all.
  const profile = own === undefined ? await readProfile(flags, host) : undefined;
  const server = await readServer(flags, file, profile, host);
  const token = own ?? profileToken(profile, server, path);
  const reporter = createReporter(flags, plan.target.url, host);
  const inspect =
    kind === 'http' ? parseInspect(flags.inspect ?? (host.env[agentVariables.inspect] || undefined)) : 'off';
  const recent = inspect === 'off' ? undefined : new RecentExchanges();
  const agent = new Agent({ server, facts: { token, version }, plan, reporter, times: usualTimes, recent });
  if (inspect !== 'off' && recent !== undefined)
    reporter.inspecting(await inspectAt(inspect, recent, plan, server.host, agent));
  stopOnSignals(agent, reporter, host);
  // Also a fault of this program itself must give the terminal back.
  const { code, lines } = await agent.run().then(toExit, (error: unknown) => ({ code: 1, lines: [explain(error)] }));
  await reporter.end(lines, code !== exitCodes.stopped);
  host.exit(code);
}

/** Opens the local page of requests; returns its URL. */
function inspectAt(
  at: InspectAddress,
  recent: RecentExchanges,
  plan: TunnelPlan,
  serverHost: string,
  agent: Agent,
): Promise<string> {
  const { target, upstreamInsecure: insecure, options } = plan;
  const { proxyProto: proxyProtocol } = options;
  const replays = new Replays(recent, { target, insecure, proxyProtocol, dialMs: usualTimes.connectMs });
  const parts = { recent, replays, target: target.url, address: () => agent.address };
  return openInspection(at, firstInspectPort(serverHost), parts);
}

/** The first signal lets visitors leave, the second one ends at once. */
function stopOnSignals(agent: Agent, reporter: Reporter, host: Host): void {
  let stoppedMs: number | undefined;
  const stop = (): void => {
    const nowMs = performance.now();
    const isSecond = stoppedMs !== undefined && nowMs - stoppedMs >= sameSignalMs;
    if (isSecond) void reporter.end(['Ended at once.'], true).finally(() => host.exit(exitCodes.interrupted));
    stoppedMs ??= nowMs;
    agent.stop();
  };
  host.on('SIGINT', stop);
  host.on('SIGTERM', stop);
}

/** Only the live view needs the stream of `process`, for the size of the terminal. */
function createReporter({ log }: AgentFlags, target: string, host: Host): Reporter {
  const out = new LineOutput(standardOut);
  if (log === 'json') return new JsonReporter(out);
  if (log === undefined && isatty(standardOut) && isInForeground()) {
    const { NO_COLOR: noColour = '', TERM: term } = host.env;
    return new ScreenReporter(out, host.stdout, target, noColour === '' && term !== 'dumb');
  }
  return new TextReporter(out, new LineOutput(standardError));
}

async function readServer(
  flags: AgentFlags,
  file: FileSettings,
  profile: AgentAccess | undefined,
  { env }: Host,
): Promise<ServerAddress> {
  const text = flags.server ?? (env[agentVariables.server] || (file.server ?? profile?.server ?? defaultServer));
  const parsed = parseHostPort(text);
  if (!parsed.ok) throw new UsageFault(`the server ${JSON.stringify(text)} ${parsed.reason}`);
  const fromEnvironment = {
    ca: env[agentVariables.ca] || undefined,
    fingerprint: env[agentVariables.fingerprint] || undefined,
  };
  const fromProfile = { ca: undefined, fingerprint: profile?.fingerprint };
  const sources = [flags, fromEnvironment, file, fromProfile];
  const trust = sources.find(({ ca, fingerprint }) => (ca ?? fingerprint) !== undefined);
  return { host: parsed.host, port: parsed.port, ca: await readTrust(trust ?? {}) };
}

/** Never the authorities that Node trusts where another one was named, however it is written. */
async function readTrust({ ca, fingerprint }: Partial<Record<'ca' | 'fingerprint', string | undefined>>) {
  if (ca !== undefined && fingerprint !== undefined)
    throw new UsageFault('the authority is named twice: give its file or its fingerprint');
  if (fingerprint === undefined) return ca === undefined ? undefined : readCa(ca);
  const parsed = parseFingerprint(fingerprint);
  if (parsed !== undefined) return parsed;
  throw new UsageFault(
    `the fingerprint ${JSON.stringify(fingerprint)} is none: it is "sha256:" and 64 hexadecimal digits, as the dashboard shows it`,
  );
}

async function readCa(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageFault(`the file of the authority to trust cannot be read: ${error.message}`);
  });
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageFault(`${path} holds no certificate in PEM. Fetch it: curl http://<api>/local_ca.pem -o ${path}`);
  return text;
}

/** Reads what "gatehouse login" has kept for agents. */
async function readProfile({ profile }: AgentFlags, { env }: Host): Promise<AgentAccess | undefined> {
  return (await findProfile(profile ?? (env[remoteVariables.profile] || undefined), env))?.agent;
}

/** A profile's token is sent to the server of the profile alone. */
function profileToken(profile: AgentAccess | undefined, { host, port }: ServerAddress, path: string): string {
  const known = profile && parseHostPort(profile.server);
  if (profile !== undefined && known?.ok === true && known.host === host && known.port === port)
    return profile.authtoken;
  throw new UsageFault(
    `no token for ${host}:${port}: run "gatehouse login", set ${agentVariables.authtoken}, or write {"authtoken": "…"} into ` +
      `${path} (mode 600). It is that of a credential: POST /credentials shows it once`,
  );
}

/** Lines of `user:password`, of a file or the environment: on the command line others would see them. */
async function readBasicAuth({ basicAuthFile }: AgentFlags, { env }: Host): Promise<readonly string[]> {
  if (basicAuthFile === undefined) {
    const line = env[agentVariables.basicAuth] || undefined;
    return line === undefined ? [] : [line];
  }
  const text = await readPrivateFile(basicAuthFile);
  if (text === undefined) throw new UsageFault(`there is no file ${basicAuthFile}`);
  const lines = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  // Without this an empty file would open the door that it was meant to guard.
  if (lines.length === 0) throw new UsageFault(`${basicAuthFile} has no line of the form user:password`);
  return lines;
}
