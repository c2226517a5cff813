import { defineError } from '../errors/user-error.ts';

export const invalidAuth = defineError(
  109,
  400,
  'The agent introduced itself in a form that is not understood: {reason}. Update the agent.',
);

export const tooManyTunnels = defineError(
  324,
  403,
  'This session has {limit} tunnels, as many as one may have. Close some, open another session, or raise GATEHOUSE_AGENT_MAX_TUNNELS.',
);

export const noToken = defineError(
  4018,
  401,
  'No authtoken was sent. Create a credential and give its token to the agent.',
);

export const invalidMessage = defineError(
  20130,
  400,
  'The message {message} of the agent is not acceptable: {reason}. Correct the option it comes from, or update the agent.',
);

export const noCommonVersion = defineError(
  20132,
  400,
  'The agent does not speak version 2 or 3 of the protocol, which this server needs. Update the agent.',
);

export const agentFailure = defineError(
  20133,
  500,
  'Something went wrong on the server; its log has the cause. Try again.',
);

export const signInTooLate = defineError(
  20141,
  408,
  'The agent did not sign in in time: its connection is closed. Connect again; the operator can raise GATEHOUSE_AGENT_AUTH_SECONDS.',
);

export const signInTooLarge = defineError(
  20142,
  413,
  'The agent has sent too many bytes before it signed in: its connection is closed. Send less, such as shorter metadata; the operator can raise GATEHOUSE_AGENT_AUTH_KIB.',
);

export const tooManyPending = defineError(
  20143,
  503,
  'Too many connections of agents, in all or from one address, have not signed in: the oldest are closed. Try again later; the operator can raise GATEHOUSE_AGENT_PENDING.',
);

export const tooMuchUnread = defineError(
  20144,
  503,
  'The visitors of one agent read too slowly, and too many bytes wait for them: the connection that most of them wait for is cut off. Read faster; the operator can raise GATEHOUSE_AGENT_UNREAD_MIB.',
);
