/** Environment variables of our own agent (`gatehouse http`); none is a setting of the service. */
export const agentVariables = {
  server: 'GATEHOUSE_SERVER',
  ca: 'GATEHOUSE_CA',
  fingerprint: 'GATEHOUSE_FINGERPRINT',
  authtoken: 'GATEHOUSE_AUTHTOKEN',
  basicAuth: 'GATEHOUSE_BASIC_AUTH',
  inspect: 'GATEHOUSE_INSPECT',
} as const;
