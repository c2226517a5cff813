import { signIn } from '../../test/agents/support/sign-in.ts';

/** `node idle-agents.ts PORT CA TOKEN COUNT`: opens so many sessions by our own code, says so, and keeps them open. */
const [, , port = '', ca = '', token = '', count = ''] = process.argv;
const atOnce = 16;

let left = Number(count);
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    while (left-- > 0) await signIn(Number(port), ca, token);
  }),
);
process.stdout.write('OPEN\n');
