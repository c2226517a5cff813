import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import type { DestinationStream } from 'pino';
import pretty from 'pino-pretty';

export type Logger = FastifyBaseLogger;

/** Writes JSON lines, or readable ones where a person looks on. */
export function createLog(level: string, out: NodeJS.WriteStream & { readonly fd: number }): Logger {
  const destination: DestinationStream = out.isTTY
    ? pretty({ destination: out.fd, sync: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' })
    : pino.destination({ fd: out.fd, sync: false });
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}
