import { statSync } from 'node:fs';

import type { Command } from 'commander';

import { ConfigError, readConfig } from '../../config/config.ts';
import type { Config, Flags } from '../../config/config.ts';
import { controlSequence } from '../../lib/terminal-text.ts';
import { packageFolder } from '../../lib/package-folder.ts';
import { ownNamesOf } from '../../start/own-names.ts';
import type { Host } from '../host.ts';
import { addSettingsFlags } from '../settings-flags.ts';
import { checkDatabase } from './check-database.ts';
import { checkDecisions } from './check-decisions.ts';
import { checkPorts, isServiceRunning } from './check-ports.ts';
import { fault, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** Exit code if anything is wrong. */
const faultsFound = 2;
const marks = { ok: ['ok     ', 32], warning: ['warning', 33], fault: ['fault  ', 31] } as const;

/** `doctor`: looks at what a start needs, on the machine of the service and with its settings. */
export function addDoctor(program: Command, host: Host): void {
  const command = program
    .command('doctor')
    .alias('check')
    .summary('check settings, database, ports, clock, certificates and rules')
    .description(
      'Checks settings, database, ports, clock, certificates and rules, and says what to do. It changes nothing. Run it on the machine of the ' +
        'service, as its user, with its variables and flags.',
    );
  addSettingsFlags(command)
    .addHelpText(
      'after',
      '\nExample:\n  gatehouse doctor --database-url sqlite:data/gatehouse.db\n\nIt ends with 2 if there is a fault.',
    )
    .action(async (flags: Flags) => {
      const findings = await examine(flags, host);
      const isColoured = host.stdout.isTTY && !host.env['NO_COLOR'];
      for (const { state, subject, text } of findings) {
        const [mark, colour] = marks[state];
        host.stdout.write(
          `${isColoured ? controlSequence(`${colour}m`) + mark + controlSequence('0m') : mark}  ${subject}: ${text}\n`,
        );
      }
      if (findings.some(({ state }) => state === 'fault')) host.exitCode = faultsFound;
    });
}

async function examine(flags: Flags, { env }: Host): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = readConfig(env, flags);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((each) => fault('settings', each));
  }
  const isRunning = await isServiceRunning(config);
  return [
    ok('settings', 'all are acceptable'),
    ...checkSecretKey(config),
    checkClock(),
    ...checkDecisions(config),
    ...(await checkDatabase(config, ownNamesOf(config), isRunning)),
    ...(await checkPorts(config, isRunning)),
  ];
}

function checkSecretKey({ secretKey }: Config): readonly Finding[] {
  if (secretKey !== undefined) return [];
  return [warning('settings', 'without GATEHOUSE_SECRET_KEY, private keys lie in the database unencrypted. Set it')];
}

/** A clock that is behind makes certificates and keys look as if they were not valid yet. */
function checkClock(): Finding {
  const installed = statSync(new URL('package.json', packageFolder)).mtime;
  const now = new Date();
  if (now >= installed) return ok('clock', `it says ${now.toISOString()}`);
  return fault('clock', `it says ${now.toISOString()}, before the program was installed. Set it, by NTP if possible`);
}
