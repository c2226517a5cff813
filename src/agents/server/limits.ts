/** Bounds of agents. Those that agents and visitors can reach are settings. */
export interface AgentLimits {
  /** Limit for the TLS handshake, and again for the message that authenticates the agent. */
  readonly authMs: number;
  /** Bytes that an agent may send before it is authenticated. */
  readonly authBytes: number;
  /** Connections at once that are not authenticated yet, a quarter of them of one source. */
  readonly pendingConnections: number;
  /** Longest message of an authenticated agent; at most the window of a stream. */
  readonly messageBytes: number;
  readonly tunnelsPerSession: number;
  /** Streams of both sides at once. Agents written in Rust drop the whole session above 512. */
  readonly streamsPerSession: { readonly rust: number; readonly other: number };
  /** Bytes that visitors of one session may leave unread. */
  readonly unreadBytes: number;
  readonly heartbeatMs: number;
  /** Longest time without any byte from an agent. */
  readonly silenceMs: number;
  /** Limit for the answer to a command. */
  readonly commandMs: number;
}

export const defaultLimits: AgentLimits = {
  authMs: 10_000,
  authBytes: 16 * 1024,
  pendingConnections: 1024,
  messageBytes: 256 * 1024,
  tunnelsPerSession: 64,
  streamsPerSession: { rust: 512, other: 4096 },
  unreadBytes: 16 * 1024 * 1024,
  heartbeatMs: 10_000,
  silenceMs: 25_000,
  commandMs: 5000,
};

/**
 * Streams that an agent may open itself: messages, heartbeats. The same number is kept free of the limit of all streams,
 * because the agent may open one while one of ours is on its way. One more is kept for our own heartbeat, so that the
 * number of visitors does not depend on whether it has begun.
 */
export const agentStreams = 11;
