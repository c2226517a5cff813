import type { Static } from 'typebox';

import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import { encodeAnswer } from './encode-response.ts';

const Input = moduleInput(
  'Compression',
  {},
  'Compresses responses for clients that accept it, by `Accept-Encoding`: Brotli, Zstandard or gzip. Only text-like ' +
    'bodies (text, JSON, scripts, XML, SVG, WebAssembly and the like) of 1 kB or more, or of unknown length. Responses ' +
    'that are encoded already, parts of a body, event streams, and those with `Cache-Control: no-transform` or a digest ' +
    'are left alone. The `ETag` of a compressed response becomes weak, and `Vary` names `Accept-Encoding`. Leave it off ' +
    'where a page shows both a secret and text that others can choose: the size of the answer would tell of the secret.',
);

const View = moduleView('Compression', {});

/** Compresses what upstreams send uncompressed. */
export const compression: EdgeModule<Static<typeof Input>> = {
  name: 'compression',
  title: 'Compression',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: [],
  accept: ({ enabled = true }) => ({ enabled }),
  present: (settings) => settings,
  build: () => ({ answers: [{ removes: [], run: (answer) => encodeAnswer(answer) }] }),
};
