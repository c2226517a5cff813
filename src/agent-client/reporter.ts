import type { VisitorEvents } from './visitor.ts';

/** The connection to the server, as the operator is told of it. */
export type AgentState =
  | { readonly kind: 'connecting'; readonly server: string }
  | { readonly kind: 'online'; readonly address: string; readonly target: string }
  /** Not connected; `retryMs` is the time until the next attempt. */
  | { readonly kind: 'offline'; readonly reason: string; readonly retryMs: number }
  | { readonly kind: 'draining'; readonly visitors: number };

/** Tells the operator what happens. */
export interface Reporter extends VisitorEvents {
  state(state: AgentState): void;
  /** The local page of requests is open at this URL. */
  inspecting(url: string): void;
  /** The last words, for which `isFault` says whether something went wrong. Resolves when they are written. */
  end(lines: readonly string[], isFault: boolean): Promise<void>;
}
