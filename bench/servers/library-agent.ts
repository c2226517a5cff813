import ngrok from '@ngrok/ngrok';

/** `node library-agent.ts SERVER CA TOKEN UPSTREAM`: the hosted service's library, unmodified; prints the URL of its TCP endpoint. */
const [, , server = '', ca = '', token = '', upstream = ''] = process.argv;
const builder = new ngrok.SessionBuilder().authtoken(token).serverAddr(server).caCert(Buffer.from(ca));
const session = await builder.connect();
const tcp = await session.tcpEndpoint().listenAndForward(`tcp://${upstream}`);
await session.labeledListener().label('app', 'bench').listenAndForward(`http://${upstream}`);
process.stdout.write(`URL ${tcp.url()}\n`);
// The library does not keep a process running by itself.
setInterval(() => {}, 60_000);
