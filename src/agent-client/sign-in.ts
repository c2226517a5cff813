import { arch, platform } from 'node:os';

import type { HeartbeatTimes } from '../agents/mux/heartbeat.ts';
import { authMessage, readAuthResponse } from '../agents/wire/auth.ts';
import type { BindAnswer } from '../agents/wire/bind-response.ts';
import {
  bindMessage,
  labelsMessage,
  optsMessage,
  readBindResponse,
  readLabelsResponse,
} from '../agents/wire/bind-message.ts';
import type { AskedOptions } from '../agents/wire/bind-message.ts';
import type { EndpointProto } from '../agents/wire/options.ts';
import { streamTypes } from '../agents/wire/stream-types.ts';
import { updateRefusal } from './session.ts';
import type { Session } from './session.ts';
import type { Target } from './target.ts';

export interface AgentFacts {
  readonly token: string;
  /** Version of this program. */
  readonly version: string;
}

/** Name by which the server knows this agent; it makes that names come back after a reconnect. */
export interface Known {
  readonly clientId: string;
  readonly cookie: string;
}

/** The tunnel that is asked for. */
export interface TunnelPlan {
  readonly proto: EndpointProto;
  readonly target: Target;
  /** True to accept any certificate of the target. */
  readonly upstreamInsecure: boolean;
  /** Names or addresses that are asked for; empty leaves the choice to the server. */
  readonly domain: string;
  readonly remoteAddr: string;
  /** Undefined for an endpoint of its own. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** The labels, for people to read. */
  readonly labelsText: string;
  readonly options: AskedOptions;
  readonly metadata: string;
  readonly poolingEnabled: boolean;
}

export type BoundTunnel = Omit<BindAnswer, 'proto'>;

/** Introduces the agent. Rejects with `Refused`, `ServerFault` or `MessageFault`. */
export async function signIn(
  session: Session,
  { token, version }: AgentFacts,
  known: Known,
  { intervalMs, silenceMs }: HeartbeatTimes,
): Promise<Known> {
  const answer = await session.call(
    streamTypes.auth,
    authMessage({
      ...known,
      token,
      agent: {
        os: platform(),
        arch: arch(),
        version,
        clientType: 'gatehouse',
        userAgent: `gatehouse/${version}`,
        metadata: '',
        supports: { stop: 'yes', restart: 'yes', update: { reason: updateRefusal } },
      },
      heartbeatMs: intervalMs,
      toleranceMs: silenceMs - intervalMs,
    }),
  );
  const { clientId, cookie } = readAuthResponse(answer);
  return { clientId, cookie };
}

/** Opens the tunnel, or opens it again with what the server gave `before`. Rejects as `signIn` does. */
export async function bind(session: Session, plan: TunnelPlan, before: BoundTunnel | undefined): Promise<BoundTunnel> {
  const { proto, target, metadata, poolingEnabled, labels, options } = plan;
  const upstream = { url: target.url, protocol: '' } as const;
  if (labels !== undefined) {
    const answer = await session.call(streamTypes.startTunnelWithLabel, labelsMessage({ labels, upstream, metadata }));
    return { id: readLabelsResponse(answer), url: '', opts: {}, token: '' };
  }
  const { id, token, opts } = before ?? {
    id: '',
    token: '',
    opts: optsMessage({ domain: plan.domain, addr: plan.remoteAddr }, options),
  };
  const message = bindMessage({ id, token, proto, upstream, metadata, poolingEnabled, opts });
  return readBindResponse(await session.call(streamTypes.bind, message));
}
