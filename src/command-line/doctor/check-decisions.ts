import { accessSync, constants, statSync } from 'node:fs';

import type { Config } from '../../config/config.ts';
import { hasGateway } from '../../config/roles.ts';
import { fault, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** The folder to which decisions about visitors are copied. It is not made, because it may be a mount. */
export function checkDecisions(config: Config): readonly Finding[] {
  const { decisions, decisionsArchive: archive } = config;
  if (archive === undefined || !hasGateway(config)) return [];
  const subject = `archive of decisions ${archive}`;
  if (decisions === undefined)
    return [warning(subject, 'no decisions are kept, so that none are copied there: set GATEHOUSE_DECISIONS')];
  try {
    if (!statSync(archive).isDirectory())
      return [fault(subject, 'it is not a folder. Correct GATEHOUSE_DECISIONS_ARCHIVE')];
    accessSync(archive, constants.W_OK | constants.X_OK);
    return [ok(subject, 'it is there and can be written')];
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const why =
      code === 'ENOENT'
        ? 'it is not there: mount or make it'
        : `it cannot be written (${code}): let this user write there`;
    return [fault(subject, `${why}, or correct GATEHOUSE_DECISIONS_ARCHIVE`)];
  }
}
