import { Type } from 'typebox';
import type { Static } from 'typebox';

import { defineError, quote, UserError } from '../../errors/user-error.ts';
import { checkRequestPath, normalizePath } from '../../lib/request-path.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import { requestEffect } from '../step.ts';
import type { RequestVisit } from '../step.ts';

const prefixNotAPath = defineError(
  20329,
  400,
  'The {field} {prefix} is not acceptable: it {reason}. Give a path such as "/api".',
);

const prefixRequired = defineError(
  20330,
  400,
  'The module path_rewrite needs "strip_prefix", "add_prefix" or both: paths such as "/api".',
);

const longest = 1024;

const strip = {
  description:
    'Removed from the start of the path, in whole segments: "/api" makes "/x" of "/api/x". A path that does not begin with it stays as it is.',
  examples: ['/api'],
};
const add = { description: 'Added before the rest of the path.', examples: ['/v2'] };

const Input = moduleInput(
  'PathRewrite',
  {
    strip_prefix: Type.Optional(Type.String({ ...strip, maxLength: longest })),
    add_prefix: Type.Optional(Type.String({ ...add, maxLength: longest })),
  },
  'Changes the path that the upstream gets; the query, and escapes in the rest of the path, stay as they are. Routes are chosen ' +
    'by the path that the visitor sends. Answers are not changed: an upstream that redirects must know its public path.',
);

const View = moduleView('PathRewrite', { strip_prefix: Type.String(strip), add_prefix: Type.String(add) });

interface PathRewriteSettings {
  readonly enabled: boolean;
  /** Empty, or a path without a slash at its end; both. */
  readonly strip_prefix: string;
  readonly add_prefix: string;
}

/** Changes the start of the path for the upstream. */
export const pathRewrite: EdgeModule<Static<typeof Input>, PathRewriteSettings> = {
  name: 'path_rewrite',
  title: 'Path Rewrite',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: [prefixNotAPath, prefixRequired],
  accept({ enabled = true, strip_prefix = '', add_prefix = '' }) {
    const settings = {
      enabled,
      strip_prefix: acceptPrefix('strip_prefix', strip_prefix),
      add_prefix: acceptPrefix('add_prefix', add_prefix),
    };
    if (settings.strip_prefix === '' && settings.add_prefix === '') throw new UserError(prefixRequired);
    return settings;
  },
  present: (settings) => settings,
  build({ strip_prefix, add_prefix }) {
    const rewrite = rewriter(normalizePath(strip_prefix), add_prefix);
    const run = (visit: RequestVisit): undefined => void (visit.upstreamTarget = rewrite(visit.upstreamTarget));
    return { steps: [requestEffect('forward', run)] };
  },
};

function acceptPrefix(field: string, given: string): string {
  const prefix = given.replace(/\/$/, '');
  if (prefix === '') return '';
  const checked = checkRequestPath(prefix);
  const reason = !checked.ok
    ? checked.reason
    : checked.query !== ''
      ? 'has a query'
      : /\/\/|;/.test(checked.matchPath)
        ? 'has "//" or ";", which servers read in different ways'
        : undefined;
  if (reason !== undefined) throw new UserError(prefixNotAPath, { field, prefix: quote(given), reason });
  return prefix;
}

/** `stripped` is in the spelling of `normalizePath`, in which paths are compared; what is left is passed on as it was sent. */
function rewriter(stripped: string, added: string): (target: string) => string {
  const segments = stripped.split('/').length - 1;
  return (target) => {
    const mark = target.indexOf('?');
    const path = mark < 0 ? target : target.slice(0, mark);
    const end = endOfSegments(path, segments);
    if (normalizePath(path.slice(0, end)) !== stripped) return target;
    // At the start of a path "//" would be taken for a host.
    const rest = added === '' ? path.slice(end).replace(/^\/*/, '/') : path.slice(end);
    return `${added}${rest}${mark < 0 ? '' : target.slice(mark)}`;
  };
}

/** The place behind so many segments of a path. */
function endOfSegments(path: string, segments: number): number {
  let end = 0;
  for (let left = segments; left > 0; left--) {
    const slash = path.indexOf('/', end + 1);
    if (slash < 0) return path.length;
    end = slash;
  }
  return end;
}
