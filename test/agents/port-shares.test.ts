import assert from 'node:assert/strict';
import { test } from 'node:test';

import { portShareUsed } from '../../src/resources/tunnels/errors.ts';
import { createAccount, createUser } from '../support/people.ts';
import { onEachServed } from './support/served-agents.ts';

onEachServed(
  'ports of agents',
  (served) => {
    test(
      'one account cannot have all of them: the last are for accounts that have few',
      { timeout: 120_000 },
      async () => {
        const { gatehouse, library } = served();
        const other = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
        const sessionOf = async (token: string) =>
          library(String((await gatehouse.create('/credentials', {}, { token }))['token']));
        const [greedy, modest] = [await sessionOf(other.token), await sessionOf(gatehouse.token)];
        const refused = { errorCode: `ERR_NGROK_${portShareUsed.code}` };
        const listen = (session: typeof greedy, port?: number) => {
          const endpoint = session.tcpEndpoint();
          return (port === undefined ? endpoint : endpoint.remoteAddr(`localhost:${port}`)).listen(false);
        };
        // Of eight ports, four are the share of each, and two are kept.
        const taken = new Set<number>();
        for (let at = 0; at < 3; at++) {
          const { addr } = await gatehouse.create('/reserved_addrs', {}, { token: other.token });
          taken.add(Number(addr.split(':')[1]));
        }
        for (let at = 0; at < 3; at++) {
          taken.add(Number(new URL((await listen(greedy)).url() ?? '').port));
        }
        assert.equal(taken.size, 6);
        await assert.rejects(listen(greedy), refused);
        const free = Array.from({ length: 8 }, (_, at) => 17_600 + at).filter((port) => !taken.has(port));
        await assert.rejects(listen(greedy, free[0]), refused, 'nor by asking for one');
        for (const port of free) await listen(modest, port);
        await assert.rejects(listen(modest), { errorCode: 'ERR_NGROK_20098' }, 'now every port is in use');
      },
    );
  },
  { tcpPorts: '17600-17607' },
);
