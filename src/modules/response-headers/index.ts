import { headerModule } from '../header-changes.ts';

export const responseHeaders = headerModule(
  'response_headers',
  'Response Headers',
  'the HTTP response before it is sent to the client',
  (rewrite, { removes }) => ({
    answers: [{ removes, run: (answer) => void (answer.headers = rewrite(answer.headers)) }],
  }),
);
