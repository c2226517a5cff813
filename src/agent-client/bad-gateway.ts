const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>502 Bad Gateway</title></head>
<body>
<h1>502 Bad Gateway</h1>
<p>The agent of this address is connected, but the program behind it does not answer.</p>
<p>If this is yours: start the program. The output of the agent says where it looked for it, and why that failed.</p>
</body>
</html>
`;

/** The answer in place of a target that cannot be reached. It says nothing about where the target is. */
export function unavailable(method: string): Buffer {
  const head = [
    'HTTP/1.1 502 Bad Gateway',
    'Content-Type: text/html; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(page)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ].join('\r\n');
  return Buffer.from(`${head}\r\n\r\n${method === 'HEAD' ? '' : page}`);
}
