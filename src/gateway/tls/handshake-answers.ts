/** Numbers of RFC 8446, 6. */
const alerts = { internal_error: 80, unrecognized_name: 112 } as const;

/** The record of a fatal alert, unencrypted: possible until the server has said anything. */
export function fatalAlert(alert: keyof typeof alerts): Buffer {
  const [recordOfAlert, major, minor, fatal] = [21, 3, 3, 2];
  return Buffer.from([recordOfAlert, major, minor, 0, 2, fatal, alerts[alert]]);
}

const text = 'This is an HTTPS port, and the request came without TLS. Use https:// in the address.\n';

/** For a client that speaks HTTP without TLS. */
export const plainHttpAnswer =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n' +
  `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
