import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import type { DestinationStream } from 'pino';
import pretty from 'pino-pretty';

import { maskTokens } from './lib/mask-tokens.ts';
import { toTerminal, withPrintableTexts } from './lib/terminal-text.ts';

export type Logger = FastifyBaseLogger;

/** Writes JSON lines, or readable ones where a person looks on; either way one for each event, but for traces of errors. */
export function createLog(level: string, out: NodeJS.WriteStream & { readonly fd: number }): Logger {
  const destination: DestinationStream = out.isTTY
    ? pretty({
        destination: out.fd,
        sync: true,
        translateTime: 'SYS:HH:MM:ss',
        ignore: 'pid,hostname',
        singleLine: true,
      })
    : pino.destination({ fd: out.fd, sync: false });
  // Paths and the messages of errors repeat what callers have sent, which may be a token in the wrong place, or control
  // characters, which readable lines would show as they are.
  const toShown = out.isTTY ? withPrintableTexts : toTerminal;
  const hooks = { streamWrite: (line: string) => toShown(maskTokens(line)) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks }, destination);
}
