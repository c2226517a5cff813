import { Link } from 'wouter';

import type { IpCheckVerdict } from '../../../../client/src/index.ts';
import { Button } from '../../components/button.tsx';
import { Badge, Glyph } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { isShutByAddress, sentenceOf, toneOf } from './doors.ts';
import type { Door } from './doors.ts';
import type { Names } from '../../parts/names.ts';

type Check = IpCheckVerdict['checks'][number];

const tones: Readonly<Record<Check['effect'], Tone>> = { allows: 'allow', refuses: 'deny', warns: 'warn', off: 'off' };

const ends: Readonly<Record<Tone, readonly [title: string, note: string]>> = {
  allow: ['Let in', 'Every check lets it in.'],
  deny: ['Refused', 'It is refused now, whatever else would let it in.'],
  ask: ['Let in only with that', 'The address is let in, but that is not enough.'],
  warn: ['Let in, with a warning', 'Once the restriction that only warns is enforced, it is refused.'],
  off: ['Not restricted', 'Nothing looks at the address here.'],
};

const differs = ['It depends on the route', 'Each route below has its own way.'] as const;

/** The way of an address through a door, from the first check to the verdict. */
export function Ladder({
  door,
  names,
  onLetIn,
}: {
  readonly door: Door;
  readonly names: Names;
  readonly onLetIn: (() => void) | undefined;
}) {
  const tone = toneOf(door);
  const [title, note] = door.outcome === 'differs' ? differs : ends[tone];
  const isRefused = door.outcome === 'refused';
  return (
    <ol className="ladder">
      {door.verdict.checks.map((check) => (
        <li key={`${check.id} ${check.module} ${check.ip_policies.length}`}>
          <Glyph tone={tones[check.effect]} />
          <CheckStep check={check} ip={door.verdict.ip} door={door} names={names} />
        </li>
      ))}
      {isRefused || door.outcome === 'differs'
        ? null
        : door.verdict.further_checks.map(({ module, by, asks }) => (
            <li key={module}>
              <Glyph tone={asks === null ? 'off' : 'ask'} />
              <div className="t">
                <b>{asks === null ? `Depends on ${by}` : sentenceOf(asks)}</b>
                <p>Module {module}</p>
              </div>
            </li>
          ))}
      <li>
        <Glyph tone={tone} />
        <div className="t">
          <b>{title}</b>
          <p>{note}</p>
          {onLetIn === undefined || !isShutByAddress(door) ? null : (
            <Button small onClick={onLetIn}>
              Let it in…
            </Button>
          )}
        </div>
      </li>
    </ol>
  );
}

function CheckStep({
  check,
  ip,
  door,
  names,
}: {
  readonly check: Check;
  readonly ip: string;
  readonly door: Door;
  readonly names: Names;
}) {
  const restriction = names.restriction(check.id);
  return (
    <div className="t">
      {check.kind === 'ip_restriction' ? (
        <>
          <b>
            IP restriction <Link to={`/ip-restrictions/${check.id}`}>“{restriction.name}”</Link>
          </b>{' '}
          {restriction.isEnforced === undefined ? null : restriction.isEnforced ? (
            <Badge>Enforced</Badge>
          ) : (
            <Badge tone="warn">Warns only</Badge>
          )}
        </>
      ) : (
        <b>
          Module {check.module} of {door.isPart ? 'route ' : ''}
          {door.name}
        </b>
      )}
      <p>{reasonOf(check, ip)}</p>
      <ul className="rules">
        {check.rule === null ? (
          check.ip_policies.map(({ id }) => (
            <li key={id}>
              <Link to={`/ip-policies/${id}`}>{names.policy(id)}</Link>
              <span className="end">no rule of it contains the address</span>
            </li>
          ))
        ) : (
          <li className="decides">
            <Glyph tone={check.rule.action === 'allow' ? 'allow' : 'deny'} />
            <span className="mono">{check.rule.cidr}</span>
            <span>{check.rule.action} · decides</span>
            <span className="end">
              <Link to={`/ip-policies/${check.rule.ip_policy.id}`}>{names.policy(check.rule.ip_policy.id)}</Link>
            </span>
          </li>
        )}
      </ul>
    </div>
  );
}

function reasonOf({ effect, rule, ip_policies: policies, reason }: Check, ip: string): string {
  if (effect === 'off') return 'It is switched off, so it asks nobody.';
  if (policies.length === 0) return `${sentenceOf(reason)}.`;
  if (rule === null) return `No rule of its policies contains ${ip}, and what no rule allows is refused.`;
  return rule.action === 'allow'
    ? `${ip} lies in ${rule.cidr}, which is allowed, and no deny rule contains it.`
    : `${ip} lies in ${rule.cidr}, which is denied. A deny rule always wins.`;
}
