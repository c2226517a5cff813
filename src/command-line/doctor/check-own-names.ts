import { describeHeldNames } from '../../start/own-names.ts';
import type { OwnNames } from '../../resources/own-names.ts';
import type { Queries } from '../../store/database.ts';
import { ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const subject = 'names';

/** Host names that accounts have and that belong to the installation. */
export async function checkOwnNames(queries: Pick<Queries, 'all'>, ownNames: OwnNames): Promise<Finding> {
  const held = await describeHeldNames(queries, ownNames);
  return held === undefined ? ok(subject, 'no account has one of the installation') : warning(subject, held);
}
