import assert from 'node:assert/strict';

import type { Random } from '../../gateway/support/random.ts';
import type { Served } from './served.ts';

export const sources = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;

interface Rule {
  readonly id: string;
  readonly action: 'allow' | 'deny';
}

interface Policy {
  readonly id: string;
  readonly rules: Map<string, Rule>;
}

interface Restriction {
  readonly id: string;
  policy: Policy;
  enforced: boolean;
}

/** One thing that visitors can ask, and how. */
export interface Door {
  readonly name: string;
  /** The status, or `refused`. */
  readonly ask: (from: string) => Promise<number | string>;
  /** The policy of the edge's own module. */
  policy?: Policy | undefined;
}

/** The rules that were sent to the API, to compute what visitors of an agent's endpoints must get. */
export class RulesModel {
  readonly served: Served;
  readonly random: Random;
  readonly policies: Policy[] = [];
  readonly restrictions: Restriction[] = [];
  readonly doors: Door[] = [];
  /** The port of the TCP endpoint. */
  port = 0;
  #routePath = '';

  private constructor(served: Served, random: Random) {
    this.served = served;
    this.random = random;
  }

  /** Starts an agent with a name, a port and labels, which an edge leads to. */
  static async start(served: Served, random: Random): Promise<RulesModel> {
    const model = new RulesModel(served, random);
    const { program } = served;
    for (let at = 0; at < 3; at++) {
      model.policies.push({ id: (await program.must('POST', '/ip_policies', {})).id, rules: new Map() });
    }
    const group = await program.must('POST', '/backends/tunnel_group', { labels: { app: 'ruled' } });
    const edge = await program.must('POST', '/edges/https', { hostports: ['edge.ruled.example:443'] });
    const route = await program.must('POST', `/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: group.id },
    });
    model.#routePath = `/edges/https/${edge.id}/routes/${route.id}`;
    const agent = await served.agent(await served.newToken(), [
      { proto: 'tcp' },
      { domain: 'ruled.localhost' },
      { proto: 'labeled', labels: ['app:ruled'] },
    ]);
    model.port = agent.portOf(0);
    const https = (host: string) => async (from: string) => (await served.ask(host, { from })).status;
    model.doors.push(
      { name: 'a name', ask: https('ruled.localhost') },
      { name: 'an edge with labels', ask: https('edge.ruled.example') },
      { name: 'a port', ask: async (from) => askPort(served, model.port, from) },
    );
    return model;
  }

  /** Changes something over the API and here. */
  async change(): Promise<string> {
    const { program } = this.served;
    const kind = this.random.pick(['rule', 'rule', 'rule', 'list', 'create', 'enforce', 'point', 'delete', 'module']);
    const policy = this.random.pick(this.policies);
    const restriction = this.restrictions.length === 0 ? undefined : this.random.pick(this.restrictions);
    if (kind === 'rule') await this.#toggleRule(policy);
    else if (kind === 'list') await this.#replaceRules(policy);
    else if (kind === 'module') await this.#changeModule(policy);
    else if (restriction === undefined || (kind === 'create' && this.restrictions.length < 2)) {
      const enforced = this.random.below(3) > 0;
      const body = { type: 'endpoints', enforced, ip_policy_ids: [policy.id] };
      const { id } = await program.must('POST', '/ip_restrictions', body);
      this.restrictions.push({ id, policy, enforced });
    } else if (kind === 'delete') {
      await program.must('DELETE', `/ip_restrictions/${restriction.id}`);
      this.restrictions.splice(this.restrictions.indexOf(restriction), 1);
    } else if (kind === 'point') {
      await program.must('PATCH', `/ip_restrictions/${restriction.id}`, { ip_policy_ids: [policy.id] });
      restriction.policy = policy;
    } else {
      const enforced = !restriction.enforced;
      await program.must('PATCH', `/ip_restrictions/${restriction.id}`, { enforced });
      restriction.enforced = enforced;
    }
    return kind;
  }

  expected(door: Door, from: string): number | string {
    const allows = ({ rules }: Policy) => rules.get(from)?.action === 'allow';
    const isAllowed =
      this.restrictions.every(({ enforced, policy }) => !enforced || allows(policy)) &&
      (door.policy === undefined || allows(door.policy));
    if (isAllowed) return 200;
    return door.name === 'a port' ? 'refused' : 403;
  }

  async #toggleRule(policy: Policy): Promise<void> {
    const { program } = this.served;
    const address = this.random.pick(sources);
    const known = policy.rules.get(address);
    if (known !== undefined) {
      await program.must('DELETE', `/ip_policy_rules/${known.id}`);
      policy.rules.delete(address);
      return;
    }
    const action = this.random.below(4) === 0 ? 'deny' : 'allow';
    const body = { ip_policy_id: policy.id, cidr: `${address}/32`, action };
    const { id } = await program.must('POST', '/ip_policy_rules', body);
    policy.rules.set(address, { id, action });
  }

  async #replaceRules(policy: Policy): Promise<void> {
    const { program } = this.served;
    const chosen = sources.filter(() => this.random.below(2) === 0);
    await program.must(
      'PUT',
      `/ip_policies/${policy.id}/rules`,
      chosen.map((address) => `${address}/32`),
    );
    policy.rules.clear();
    const { ip_policy_rules } = await program.must('GET', '/ip_policy_rules');
    for (const { id, cidr, ip_policy } of ip_policy_rules) {
      if (ip_policy.id === policy.id) policy.rules.set(cidr.replace('/32', ''), { id, action: 'allow' });
    }
  }

  async #changeModule(policy: Policy): Promise<void> {
    const { program } = this.served;
    const door = this.doors.find(({ name }) => name === 'an edge with labels');
    assert.ok(door);
    const path = `${this.#routePath}/ip_restriction`;
    if (door.policy === undefined) await program.must('PUT', path, { ip_policy_ids: [policy.id] });
    else await program.must('DELETE', path);
    door.policy = door.policy === undefined ? policy : undefined;
  }
}

async function askPort(served: Served, port: number, from: string): Promise<number | string> {
  try {
    return (await served.askPort(port, { from })).status;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ECONNRESET' ? 'refused' : String(error);
  }
}
