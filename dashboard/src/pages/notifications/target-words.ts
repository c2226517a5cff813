import type { EventDestination } from '../../../../client/src/index.ts';

/** Where events go, as people know it. */
export function placeOf({ target, description }: EventDestination): string {
  const { webhook, email, syslog, otlp, file } = target;
  if (description !== undefined && description !== '') return description;
  if (email !== undefined) return email.to.join(', ');
  if (webhook !== undefined) return webhook.url;
  if (syslog !== undefined) return `${syslog.host}:${syslog.port}`;
  if (otlp !== undefined) return otlp.url;
  return file === undefined ? 'nowhere' : file.name;
}

export function kindOf({ target }: EventDestination): string {
  const { webhook, email, syslog, otlp } = target;
  if (email !== undefined) return 'E-mail';
  if (webhook !== undefined) return 'Webhook';
  if (syslog !== undefined) return `Syslog, ${syslog.protocol}`;
  return otlp === undefined ? 'File' : 'OpenTelemetry';
}
