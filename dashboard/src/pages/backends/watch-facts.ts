import type { StaticBackend } from '../../../../client/src/index.ts';
import type { Fact } from '../../components/page.tsx';
import { countOf } from '../../lib/text.ts';

const choices = {
  round_robin: 'In turn, by weight',
  least_connections: 'Least connections, by weight',
  source: 'By the source: a client stays at one address',
} as const;

/** How the addresses of a backend are chosen and watched, in words. */
export function watchFacts(row: StaticBackend): readonly Fact[] {
  const { addresses = [], retries = 1, when_all_down } = row;
  const isAlone = addresses.length < 2;
  return [
    ['Active checks', activeWords(row)],
    ['Real requests', passiveWords(row)],
    ['Back up', backWords(row)],
    ...(isAlone ? [] : ([['Choice', choiceWords(row)]] as const)),
    ...(isAlone
      ? []
      : ([
          [
            'Second try',
            retries === 0 ? 'None' : `Repeatable requests, ${countOf(retries, 'time', 'times')}, at another address`,
          ],
        ] as const)),
    [
      'All down',
      when_all_down === 'fail_closed' ? 'Fails closed: visitors get 503' : 'Fails open: all addresses are tried',
    ],
  ];
}

function choiceWords({ balance }: StaticBackend): string {
  const { by = 'round_robin', header = '' } = balance ?? {};
  return by === 'header' ? `By the header ${header}: its value stays at one address` : choices[by];
}

function activeWords({ active_check: check }: StaticBackend): string {
  if (check === undefined) return 'None';
  const { kind, path = '/', statuses = [], interval_seconds, timeout_seconds, failures } = check;
  const what = kind === 'tcp' ? 'A connection' : `GET ${path}`;
  const wanted = kind === 'tcp' ? 'opened' : statuses.join(', ');
  return `${what} every ${interval_seconds} s from each gateway: ${wanted} within ${timeout_seconds} s, or down after ${countOf(failures ?? 1, 'failure', 'failures')}`;
}

function passiveWords({ passive_check: check, addresses = [] }: StaticBackend): string {
  if (check === undefined) return addresses.length < 2 ? 'Do not count' : 'Down after 1 failed connection';
  const { failures, statuses } = check;
  const or = statuses.length === 0 ? '' : `, or answered with ${statuses.join(', ')}`;
  return `Down after ${failures} in a row without an answer${or}`;
}

function backWords({
  active_check: active,
  passive_check: passive,
  slow_start_seconds: slow = 0,
}: StaticBackend): string {
  const slowly = slow === 0 ? '' : `, with slow start over ${slow} s`;
  const when =
    active === undefined
      ? `A request tries it after ${passive?.down_seconds ?? 5} s`
      : `After ${countOf(active.passes ?? 1, 'good check', 'good checks')}`;
  return `${when}${slowly}`;
}
