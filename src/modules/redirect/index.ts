import { Type } from 'typebox';
import type { Static } from 'typebox';

import { defineError, quote, UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import { requestEffect } from '../step.ts';

const redirectNowhere = defineError(
  20331,
  400,
  'The redirect to {to} is not acceptable: {reason}. Give a path such as "/new", or a URL such as "https://www.example.com".',
);

const longest = 2048;

const to = {
  description:
    'Where visitors are sent: a path, or a URL of http or https. It has no placeholders: "${…}" is plain text.',
  examples: ['https://www.example.com'],
};
const status = {
  description: '301, 302, 303, 307 or 308. 307 and 308 keep method and body; 301 and 308 are remembered by browsers.',
};
const keepPath = { description: 'true: path and query of the request are appended.' };

const Input = moduleInput(
  'Redirect',
  {
    to: Type.String({ ...to, maxLength: longest }),
    status_code: Type.Optional(
      Type.Union([Type.Literal(301), Type.Literal(302), Type.Literal(303), Type.Literal(307), Type.Literal(308)], {
        ...status,
        default: 302,
      }),
    ),
    keep_path: Type.Optional(Type.Boolean({ ...keepPath, default: false })),
  },
  'Answers requests with a redirect, once they have passed every check. No backend is asked.',
);

const View = moduleView('Redirect', {
  to: Type.String(to),
  status_code: Type.Integer(status),
  keep_path: Type.Boolean(keepPath),
});

interface RedirectSettings {
  readonly enabled: boolean;
  readonly to: string;
  readonly status_code: 301 | 302 | 303 | 307 | 308;
  readonly keep_path: boolean;
}

/** Sends visitors elsewhere. */
export const redirect: EdgeModule<Static<typeof Input>, RedirectSettings> = {
  name: 'redirect',
  title: 'Redirect',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: [redirectNowhere],
  accept({ enabled = true, to: given, status_code = 302, keep_path = false }) {
    const reason = faultOf(given, keep_path);
    if (reason !== undefined) throw new UserError(redirectNowhere, { to: quote(given), reason });
    return { enabled, to: given, status_code, keep_path };
  },
  present: (settings) => settings,
  build({ to: given, status_code, keep_path }) {
    const base = given.replace(/\/$/, '');
    const locationOf = keep_path ? (target: string): string => `${base}${target}` : (): string => given;
    const step = requestEffect('admitted', ({ target }) => {
      const answer = { status: status_code, headers: ['Location', locationOf(target)], body: '' };
      return { kind: 'answer', answer, isChanged: true };
    });
    return { steps: [step] };
  },
};

function faultOf(given: string, keepsPath: boolean): string | undefined {
  if (!/^[!-~]+$/.test(given)) return 'it has a space, a control character or one outside ASCII, or is empty';
  if (given.includes('\\')) return 'it has a backslash, which browsers read as a slash';
  if (keepsPath && /[?#]/.test(given)) return 'a path cannot be appended to a query or a fragment';
  if (given.startsWith('/')) {
    if (given.startsWith('//')) return 'with "//" at its start it names a host: write its scheme too';
    return keepsPath && given === '/' ? 'with the path of the request it leads to itself' : undefined;
  }
  const url = /^https?:\/\/[^/]/i.test(given) && URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined) return 'it is no path and no URL of http or https';
  // The path of a request is appended to the host: without this it could become a part of it.
  if (url.username !== '' || url.password !== '') return 'it has a user name or a password';
  return undefined;
}
