import type { IpAddress } from '../../lib/ip/address.ts';
import type { SessionEnd } from '../mux/mux-session.ts';
import type { AuthRequest } from '../wire/auth.ts';
import type { BindRequest, LabelsRequest, PatchRequest } from '../wire/bind.ts';
import type { AgentSession } from './agent-session.ts';
import type { AgentTunnel } from './agent-tunnel.ts';

export interface AgentSource {
  readonly ip: IpAddress;
  readonly text: string;
}

/** An agent that was let in. */
export interface Admission {
  readonly accountId: string;
  readonly accountName: string;
  readonly credentialId: string;
  /** Rules for what the credential may bind; empty allows everything. */
  readonly acl: readonly string[];
}

/** Answer to a `BindRequest` of an agent. */
export interface BoundEndpoint {
  /** Letters, digits and `_`: agents put it into file names. */
  readonly id: string;
  readonly url: string;
  /** Fields of `Opts` that the server decided, such as `Domain`: the agent asks for them again after a reconnect. */
  readonly opts?: Readonly<Record<string, unknown>>;
}

/**
 * The rest of the program, as the listener of agents sees it. A method refuses by throwing a `UserError`, whose text and
 * number the agent shows; anything else that is thrown is logged and answered as a fault of ours.
 */
export interface AgentHost {
  /** Finds the account of a token and checks the source address. */
  authenticate(request: AuthRequest, source: AgentSource): Promise<Admission>;
  /**
   * The session is open. One with the same `clientId` that is still open is closed after this call, so the names of that
   * one can be moved, or kept for it: its `sessionDown` comes later than the `sessionUp` of its successor. The agent gets
   * its answer when the promise resolves.
   */
  sessionUp(session: AgentSession): void | Promise<void>;
  /** The session takes no more visitors, and ends when those that it has are gone: others should not be sent to it. */
  sessionDraining(session: AgentSession): void;
  /** The session is over, and with it its `tunnels`; those that a successor has bound again must stay. */
  sessionDown(session: AgentSession, end: SessionEnd): void;
  /**
   * Opens an endpoint. `request.id` is set only if this agent, and no other, had a tunnel of that id before, and must
   * then be the id of the answer.
   */
  bind(session: AgentSession, request: BindRequest): Promise<BoundEndpoint>;
  /** Returns the id of the tunnel; the same as before for the same `clientId` and labels. */
  bindLabels(session: AgentSession, request: LabelsRequest): Promise<string>;
  /** The agent gave the tunnel up, or was gone before `bind` had returned. */
  unbind(session: AgentSession, tunnel: AgentTunnel): void;
  patch(session: AgentSession, tunnel: AgentTunnel, patch: PatchRequest): Promise<void>;
  /** A connection ended before it was authenticated. */
  turnedAway(source: AgentSource, reason: string): void;
}
