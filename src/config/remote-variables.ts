/** Environment variables of commands that talk to a server (`gatehouse apply`); none is a setting of the service. */
export const remoteVariables = {
  url: 'GATEHOUSE_URL',
  token: 'GATEHOUSE_TOKEN',
  /** Token at the server that `gatehouse import` reads from. */
  fromToken: 'GATEHOUSE_FROM_TOKEN',
  profile: 'GATEHOUSE_PROFILE',
} as const;
