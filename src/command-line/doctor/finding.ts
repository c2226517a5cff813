/** One line of what was looked at. */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'fault';
  readonly subject: string;
  /** Finding and, unless all is well, the remedy. */
  readonly text: string;
}

export const ok = (subject: string, text: string): Finding => ({ state: 'ok', subject, text });
export const warning = (subject: string, text: string): Finding => ({ state: 'warning', subject, text });
export const fault = (subject: string, text: string): Finding => ({ state: 'fault', subject, text });
